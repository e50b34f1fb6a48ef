"""What the containers may: no port but the API's, no root, no writing, no way out for the databases."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.compose.deployment import LONG_RUNNING, ONE_SHOT, ROOT, Deployment, docker

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1500)]

SERVICES = (*LONG_RUNNING, *ONE_SHOT)
PACKAGES = ("api", "indexer", "mappings", "store")


def test_nothing_is_published_but_the_api_on_loopback(deployment: Deployment) -> None:
    published = {name: deployment.inspect(name)["HostConfig"]["PortBindings"] or {} for name in SERVICES}
    assert published.pop("api") == {"8000/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(deployment.port)}]}
    assert not any(published.values()), published


def test_only_the_api_has_a_way_out(deployment: Deployment) -> None:
    def is_closed(network: str) -> bool:
        return bool(json.loads(docker("network", "inspect", network))[0]["Internal"])

    joined = {name: list(deployment.inspect(name)["NetworkSettings"]["Networks"]) for name in SERVICES}
    assert {name for name, networks in joined.items() if not all(map(is_closed, networks))} == {"api"}


@pytest.mark.parametrize("service", LONG_RUNNING)
def test_no_process_is_root_or_can_gain_a_right_or_write_to_the_image(deployment: Deployment, service: str) -> None:
    status = dict(line.split(":\t", 1) for line in deployment.read(service, "/proc/1/status").splitlines())
    mounts = [line.split() for line in deployment.read(service, "/proc/mounts").splitlines()]
    root = next(mount for mount in mounts if mount[1] == "/")
    assert "0" not in status["Uid"].split()
    assert "0" not in status["Gid"].split()
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    assert "ro" in root[3].split(",")


@pytest.mark.parametrize("service", ONE_SHOT)
def test_the_one_shot_jobs_are_held_as_tightly(deployment: Deployment, service: str) -> None:
    container = deployment.inspect(service)
    assert container["State"]["ExitCode"] == 0
    assert container["Config"]["User"] == "10001:10001"
    assert container["HostConfig"]["ReadonlyRootfs"]
    assert container["HostConfig"]["CapDrop"] == ["ALL"]
    assert container["HostConfig"]["SecurityOpt"] == ["no-new-privileges:true"]


def test_the_image_holds_every_file_of_the_packages(deployment: Deployment) -> None:
    listing = (
        "import json, pathlib, api; root = pathlib.Path(api.__file__).parents[1]; "
        f"files = [f for p in {PACKAGES} for f in (root / p).rglob('*') if f.is_file()]; "
        "print(json.dumps([str(f.relative_to(root)) for f in files]))"
    )
    inside = json.loads(deployment.compose("exec", "--no-TTY", "api", "python", "-c", listing))
    checkout = [file for name in PACKAGES for file in (ROOT / name).rglob("*") if file.is_file()]
    assert without_bytecode(map(Path, inside)) == without_bytecode(file.relative_to(ROOT) for file in checkout)


def without_bytecode(files: Iterable[Path]) -> set[str]:
    return {str(file) for file in files if file.suffix != ".pyc"}


def test_the_image_cannot_install_anything(deployment: Deployment) -> None:
    tools = "import importlib.util as u; print([m for m in ('pip', 'setuptools') if u.find_spec(m)])"
    assert deployment.compose("exec", "--no-TTY", "api", "python", "-c", tools).strip() == "[]"
