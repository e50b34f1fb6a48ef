"""The doctor and an engine that fails, is too old, hides what it has or has no room."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import orjson
import pytest

from tests.support.indexer.examined import findings, snapshot, with_settings
from tests.support.indexer.fixtures import Place
from tests.support.indexer.wire import Fault, Wire


@pytest.fixture
def marks_in_percent(place: Place) -> Iterator[None]:
    """The engine's own default watermarks."""
    disk = "cluster.routing.allocation.disk.watermark"
    yield from with_settings(place, {f"{disk}.low": "85%", f"{disk}.high": "90%", f"{disk}.flood_stage": "95%"})


def _altered(wire: Wire, path: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Lets the engine's own answers to this path through with a change."""

    def rule(method: str, target: str, body: bytes) -> Fault | None:
        if unquote(target.partition("?")[0]) != path:
            return None
        status, _, response = wire.forward(method, target, body, "application/json")
        parts = orjson.loads(response)
        change(parts)
        return Fault("response", status, orjson.dumps(parts))

    wire.rule = rule


def _of_the_engine(place: Place, code: str, *options: str) -> list[dict[str, Any]]:
    response = orjson.loads(place.run("doctor", "--json", *options).stdout)
    return [finding for finding in response["findings"] if finding["code"] == code]


def _nearly_full(used: float) -> Callable[[dict[str, Any]], None]:
    def change(response: dict[str, Any]) -> None:
        for node in response["nodes"].values():
            total = node["fs"]["total"]
            total["available_in_bytes"] = int(total["total_in_bytes"] * (1 - used))

    return change


def test_an_engine_that_is_too_old_is_reported(loaded: Place, wire: Wire) -> None:
    _altered(wire, "/", lambda response: response["version"].update(number="2.19.1"))
    (finding,) = _of_the_engine(loaded, "engine-version")
    assert (finding["severity"], "2.19.1" in finding["message"]) == ("warning", True)


def test_what_a_login_may_not_see_is_reported(loaded: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_cluster/settings"):
            return Fault("response", 403, b'{"error":{"type":"security_exception","reason":"no"},"status":403}')
        return None

    wire.rule = rule
    (finding,) = findings(loaded, code=0)
    assert (finding["code"], finding["severity"]) == ("not-checked", "warning")


def test_an_engine_that_fails_in_the_middle_is_not_taken_for_sound(loaded: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "/_stats/docs" in path:
            return Fault("response", 500, b'{"error":{"type":"x","reason":"broken"},"status":500}')
        return None

    wire.rule = rule
    (finding,) = findings(loaded, code=1)
    assert (finding["code"], finding["severity"]) == ("not-checked", "error")


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
    healthy = snapshot(loaded)
    lifted = False

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        nonlocal lifted
        lifted = lifted or (method == "PUT" and path.partition("?")[0].endswith("/_settings"))
        if not lifted:
            block = {"index.blocks.read_only_allow_delete": True}
            loaded.client.indices.put_settings(index=loaded.alias, body=block)
        return None

    wire.rule = rule
    (finding,) = findings(loaded, "--fix", code=0)
    assert (finding["code"], finding["fixed"]) == ("blocked", True)
    assert "read_only_allow_delete" in finding["message"]
    assert snapshot(loaded) == healthy
