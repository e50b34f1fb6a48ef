"""compose.production.yml as it is written: what each container may, reaches and knows."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.settings import Settings

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = yaml.safe_load((ROOT / "compose.production.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
ENGINES = {"opensearch-1", "opensearch-2", "opensearch-3"}


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_may_more_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]
    assert int(service["logging"]["options"]["max-file"]) >= 2, "logs are rotated"


@pytest.mark.parametrize("name", SERVICES)
def test_no_image_is_of_a_moving_version(name: str) -> None:
    image = SERVICES[name]["image"]
    default = re.search(r":-([^}]+)\}", image)
    assert ":?" in image if default is None else re.search(r":\d+\.\d+", default[1])


def test_only_the_proxy_is_published_and_only_what_must_reaches_the_world() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    closed = {name for name, network in FILE["networks"].items() if network.get("internal")}
    outside = {name for name, service in SERVICES.items() if not set(service["networks"]) <= closed}
    assert outside == {"proxy", "deliver", "indexer", "reload"}


def test_callbacks_are_sent_without_a_way_to_the_engine() -> None:
    reach_the_engine = {name for name, service in SERVICES.items() if "engine" in service["networks"]}
    assert reach_the_engine == {*ENGINES, "security", "api", "indexer", "reload"}
    assert SERVICES["api"]["environment"]["GEAR_DELIVER_CALLBACKS"] == "false"
    assert not [secret for secret in SERVICES["deliver"]["secrets"] if "opensearch" in secret]


def test_every_secret_is_a_file_that_a_service_reads_and_the_script_makes() -> None:
    mounted = {
        entry if isinstance(entry, str) else entry["source"]
        for service in SERVICES.values()
        for entry in service.get("secrets", ())
    }
    assert mounted == set(FILE["secrets"])
    script = (ROOT / "deploy" / "secrets.sh").read_text(encoding="utf-8")
    assert [name for name in mounted if name.partition(".")[0] not in script] == []
    for name, service in SERVICES.items():
        files = [str(value) for value in service.get("environment", {}).values() if "/run/secrets/" in str(value)]
        named = {secret for value in files for secret in re.findall(r"/run/secrets/([\w.]+)", value)}
        assert named <= {entry for entry in service["secrets"] if isinstance(entry, str)}, name


def test_every_variable_is_a_setting_and_every_mounted_file_is_there() -> None:
    settings = {f"GEAR_{name.upper()}" for name in Settings.model_fields}
    for name in ("api", "deliver", "migrate", "indexer"):
        assert {key for key in SERVICES[name]["environment"] if key.startswith("GEAR_")} <= settings, name
    assert [config["file"] for config in FILE["configs"].values() if not (ROOT / config["file"]).is_file()] == []


def test_the_api_has_time_for_its_drain_and_believes_the_proxy_alone() -> None:
    api = SERVICES["api"]
    assert int(api["stop_grace_period"].removesuffix("s")) >= int(api["environment"]["GEAR_DRAIN_SECONDS"]) + 30
    subnet = FILE["networks"]["proxy"]["ipam"]["config"][0]["subnet"]
    assert api["environment"]["GEAR_TRUSTED_PROXIES"] == subnet
    assert [name for name, service in SERVICES.items() if "proxy" in service["networks"]] == ["api", "proxy"]


def test_no_sample_is_ever_loaded() -> None:
    assert "sample" not in (ROOT / "compose.production.yml").read_text(encoding="utf-8")
