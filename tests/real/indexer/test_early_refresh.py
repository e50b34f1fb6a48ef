"""Near its end a load has the engine write out what it holds, beside the last items, and needs no luck with it."""

import threading

import pytest

from indexer.engine import bulk
from indexer.loading import early_refresh
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk

MANY = 3000
CHUNK = 100
FAILED = Fault("answer", 500, b'{"error": {"type": "io_exception", "reason": "disk"}, "status": 500}')


@pytest.mark.parametrize("fault", [None, FAILED, CUT], ids=["done", "failed", "cut"])
def test_the_index_is_refreshed_before_the_last_items_are_there(
    place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch, fault: Fault | None
) -> None:
    monkeypatch.setattr(bulk, "CHUNK_ITEMS", CHUNK)
    monkeypatch.setattr(early_refresh, "LAST_BYTES", 400_000)
    refreshed = threading.Event()
    waited: list[bool] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.endswith("/_refresh") and "-deletes/" not in path and not refreshed.is_set():
            refreshed.set()
            return fault
        if is_bulk(path) and wire.bulks >= MANY // CHUNK - 1:
            waited.append(refreshed.wait(timeout=30))
        return None

    wire.rule = rule
    source = place.folder / "items.ndjson"
    source.write_bytes(lines(items(MANY)))
    report = place.json("load", str(source), "--platform", "730", "--quiet")
    assert waited
    assert all(waited)
    assert (report["indexed"], report["proof"]["agrees"], report["error"]) == (MANY, True, None)


def test_a_load_of_unknown_size_is_refreshed_at_its_end_alone(
    place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_refresh, "LAST_BYTES", 1)
    after: list[int] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.endswith("/_refresh") and "-deletes/" not in path:
            after.append(wire.bulks)
        return None

    wire.rule = rule
    report = place.load(items(MANY))
    assert report["indexed"] == MANY
    assert after
    assert set(after) == {wire.bulks}
