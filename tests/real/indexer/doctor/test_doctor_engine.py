"""The doctor and what is wrong around the index: the engine, its settings, its disks, the database."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import orjson
import pytest

from tests.support.indexer.examined import codes, findings, snapshot, stays
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import Fault, Wire


@pytest.fixture
def loaded(place: Place) -> Place:
    """A platform in perfect order: one generation serves, and the database is migrated."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    place.load(items(3))
    return place


def _transient(place: Place, settings: dict[str, str]) -> Iterator[None]:
    """The cluster has these settings, whatever the engine of this run was started with."""
    place.client.cluster.put_settings(body={"transient": settings})
    yield
    place.client.cluster.put_settings(body={"transient": dict.fromkeys(settings)})


@pytest.fixture
def marks_in_percent(place: Place) -> Iterator[None]:
    """The engine's own default watermarks."""
    disk = "cluster.routing.allocation.disk.watermark"
    yield from _transient(place, {f"{disk}.low": "85%", f"{disk}.high": "90%", f"{disk}.flood_stage": "95%"})


@pytest.fixture
def indices_by_themselves(place: Place) -> Iterator[None]:
    """A write makes the index that it names, which is the engine's own default."""
    yield from _transient(place, {"action.auto_create_index": "true"})


@pytest.fixture
def template(place: Place) -> Iterator[str]:
    """An index template that catches the names of this test alone."""
    name = f"{place.alias}-template"
    body = {"index_patterns": [f"{place.alias}-2*"], "template": {"settings": {"index.max_terms_count": 5}}}
    place.client.indices.put_index_template(name=name, body=body)
    yield name
    place.client.indices.delete_index_template(name=name)


def _altered(wire: Wire, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Lets the engine's own answers to this path through with a change."""

    def rule(method: str, asked: str, body: bytes) -> Fault | None:
        if unquote(asked.partition("?")[0]) != path:
            return None
        status, _, response = wire.forward(method, asked, body, "application/json")
        parts = orjson.loads(response)
        change(parts)
        return Fault("response", status, orjson.dumps(parts))

    wire.rule = rule


def _of_the_engine(place: Place, code: str, *options: str) -> list[dict[str, Any]]:
    response = orjson.loads(place.run("doctor", "--json", *options).stdout)
    return [one for one in response["findings"] if one["code"] == code]


def _nearly_full(used: float) -> Callable[[dict[str, Any]], None]:
    def change(response: dict[str, Any]) -> None:
        for node in response["nodes"].values():
            total = node["fs"]["total"]
            total["available_in_bytes"] = int(total["total_in_bytes"] * (1 - used))

    return change


@pytest.mark.usefixtures("indices_by_themselves")
def test_a_stray_write_could_take_the_name_before_the_first_load(place: Place) -> None:
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    found = stays(place, "auto-create", place.alias)
    assert found["severity"] == "warning"
    assert f"-{place.alias}*,+*" in found["remedy"]


def test_a_template_that_catches_our_names_is_reported(loaded: Place, template: str) -> None:
    found = stays(loaded, "template", template)
    assert f"_index_template/{template}" in found["remedy"]


def test_an_engine_that_is_away_is_a_finding(
    loaded: Place, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", f"http://127.0.0.1:{unused_tcp_port}")
    (found,) = findings(loaded, "--fix", code=1)
    assert found["code"] == "engine-unreachable"
    assert "GEAR_OPENSEARCH_URL" in found["message"]


def test_an_engine_that_is_too_old_is_reported(loaded: Place, wire: Wire) -> None:
    _altered(wire, "/", lambda response: response["version"].update(number="2.19.1"))
    (found,) = _of_the_engine(loaded, "engine-version")
    assert (found["severity"], "2.19.1" in found["message"]) == ("warning", True)


def test_what_a_login_may_not_see_is_reported(loaded: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_cluster/settings"):
            return Fault("response", 403, b'{"error":{"type":"security_exception","reason":"no"},"status":403}')
        return None

    wire.rule = rule
    (found,) = findings(loaded, code=0)
    assert (found["code"], found["severity"]) == ("not-checked", "warning")


def test_an_engine_that_fails_in_the_middle_is_not_taken_for_sound(loaded: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "/_stats/docs" in path:
            return Fault("response", 500, b'{"error":{"type":"x","reason":"broken"},"status":500}')
        return None

    wire.rule = rule
    (found,) = findings(loaded, code=1)
    assert (found["code"], found["severity"]) == ("not-checked", "error")


@pytest.mark.usefixtures("marks_in_percent")
def test_no_block_is_lifted_while_a_disk_is_past_its_watermark(loaded: Place, wire: Wire) -> None:
    _altered(wire, "/_nodes/data:true/stats/fs", _nearly_full(0.87))
    loaded.client.indices.put_settings(index=loaded.alias, body={"index.blocks.write": True})
    before = snapshot(loaded)
    (blocked,) = findings(loaded, "--fix", code=1)
    assert (blocked["code"], blocked["fixed"]) == ("blocked", False)
    assert "make room" in blocked["remedy"]
    assert snapshot(loaded) == before


def test_the_block_of_a_flood_is_lifted_once_there_is_room(loaded: Place, wire: Wire) -> None:
    """The engine lifts it too, every half a minute: here it is set before each question, until the doctor lifts it."""
    whole = snapshot(loaded)
    lifted = False

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        nonlocal lifted
        lifted = lifted or (method == "PUT" and path.partition("?")[0].endswith("/_settings"))
        if not lifted:
            block = {"index.blocks.read_only_allow_delete": True}
            loaded.client.indices.put_settings(index=loaded.alias, body=block)
        return None

    wire.rule = rule
    (found,) = findings(loaded, "--fix", code=0)
    assert (found["code"], found["fixed"]) == ("blocked", True)
    assert "read_only_allow_delete" in found["message"]
    assert snapshot(loaded) == whole


def test_a_database_that_is_none_is_a_finding(loaded: Place) -> None:
    Path("orders.db").write_bytes(b"this is no database" * 100)
    for left in Path().glob("orders.db-*"):
        left.unlink()
    found = stays(loaded, "database-unreachable", "not an SQLite database")
    assert found["severity"] == "error"
    assert findings(loaded, "--without-orders", code=0) == []


def test_a_database_without_tables_is_a_finding_and_no_file_is_made(place: Place) -> None:
    place.load(items(1))
    found = stays(place, "database-unmigrated", "gear-api migrate")
    assert found["remedy"] == "gear-api migrate"
    assert not Path("orders.db").exists()
    Path("orders.db").touch()
    assert codes(findings(place, code=1)) == ["database-unmigrated"]
