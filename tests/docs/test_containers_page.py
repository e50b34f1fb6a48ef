"""The compose file starts no made-up goods by itself, and its page names services that it has."""

import re

from tests.docs.pages import DOCS

SERVICE = re.compile(r"^  ([\w-]+):(?: &\w+)?\n((?:    .*\n|\n|  +#.*\n)+)", re.MULTILINE)
COMPOSE = (DOCS.parent / "docker-compose.yml").read_text(encoding="utf-8")
SERVICES = dict(SERVICE.findall(COMPOSE.partition("\nservices:\n")[2].partition("\nnetworks:\n")[0]))


def test_the_sample_is_loaded_only_where_its_profile_is_asked_for() -> None:
    loading = {name: body for name, body in SERVICES.items() if "gear-indexer sample" in body}
    assert list(loading) == ["sample"]
    assert "\n    profiles: [sample]" in loading["sample"]
    assert re.findall(r"sample: \{.*required: (\w+)\}", SERVICES["api"]) == ["false"], "the API starts without it"
    started = [name for name, body in SERVICES.items() if "profiles:" not in body]
    assert started == ["opensearch", "postgres", "migrate", "api"]


def test_the_page_names_every_service_and_no_other() -> None:
    page = (DOCS / "containers.md").read_text(encoding="utf-8")
    table = page.partition("## What runs")[2].partition("## Settings")[0]
    assert set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE)) == {*SERVICES}
    run = re.findall(r"docker compose run (?:-\S+ |\"\S+\" |\\\n)*\s*([\w-]+)", page)
    assert run
    assert set(run) == {"indexer"}


def test_an_upgrade_loads_before_the_new_api_starts() -> None:
    upgrade = (DOCS / "containers.md").read_text(encoding="utf-8").partition("## Back up, upgrade")[2]
    status, up = upgrade.index("gear-indexer status"), upgrade.index("docker compose up --detach --wait")
    assert upgrade.index("docker compose build") < status < up
    assert "up --build" not in upgrade.partition("## Stop, remove")[0]
