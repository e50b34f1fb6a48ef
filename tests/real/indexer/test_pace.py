"""A load follows the engine: it yields where that has too much, splits what is too large, and loses nothing."""

import threading
import time

import pytest

from indexer.engine import bulk
from indexer.engine.throttle import LEAST_BYTES
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.wire import Fault, Wire, is_bulk

BUSY = Fault("answer", 429, b'{"error": {"type": "rejected_execution_exception", "reason": "busy"}, "status": 429}')
TOO_LARGE = Fault("answer", 413, b"<html>413 Request Entity Too Large</html>")
MANY = 3000


def test_an_engine_that_takes_one_request_at_a_time_gets_no_more(
    place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "CHUNK_ITEMS", 50)
    lock = threading.Lock()
    refused: list[float] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        if not lock.acquire(blocking=False):
            refused.append(time.monotonic())
            return BUSY
        try:
            status, _, answer = wire.forward(method, path, body, "application/x-ndjson")
            return Fault("answer", status, answer)
        finally:
            lock.release()

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["proof"]["agrees"]) == (MANY, True)
    assert report["pace"]["senders"] == 1
    # it learnt that from the first refusals, although fifty more requests followed
    assert 1 <= report["pace"]["pushedBack"] <= 3
    assert report["retries"] == len(refused) < 10


def test_what_is_on_its_way_stays_within_its_bound(place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = 40_000
    monkeypatch.setattr(bulk, "MOST_BYTES_IN_FLIGHT", bound)
    monkeypatch.setattr(bulk, "CHUNK_ITEMS", 20)
    changed = threading.Condition()
    held: list[int] = []
    most: list[int] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        with changed:
            held.append(len(body))
            most.append(sum(held))
            changed.notify_all()
            # the first ones wait for each other, so that more than one is seen at a time
            changed.wait_for(lambda: len(held) > 1 or len(most) > 2, timeout=10)
        status, _, answer = wire.forward(method, path, body, "application/x-ndjson")
        with changed:
            held.remove(len(body))
        return Fault("answer", status, answer)

    wire.rule = rule
    report = place.load(items(MANY), "--senders", "16")
    assert (report["indexed"], report["proof"]["agrees"]) == (MANY, True)
    assert max(most) <= bound
    assert len(most) > 1


def test_requests_that_a_proxy_finds_too_large_are_split(place: Place, wire: Wire) -> None:
    limit = 100_000
    sizes: list[int] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        sizes.append(len(body))
        return TOO_LARGE if len(body) > limit else None

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["rejected"], report["proof"]["agrees"]) == (MANY, 0, True)
    assert sum(size > limit for size in sizes) < 20
    assert report["pace"]["bytes"] <= limit
    assert report["retries"] == 0
    assert place.served()[:3] == [1, 2, 3]


def test_an_item_that_alone_is_too_large_is_named(place: Place, wire: Wire) -> None:
    old = place.load(items(3))["index"]
    wire.rule = lambda method, path, body: TOO_LARGE if is_bulk(path) and b"Item 7" in body else None
    report = place.load(items(MANY), code=1)
    assert "item 7 (-, line 7) has" in report["error"]
    assert "413" in report["error"]
    assert not report["swapped"]
    assert old in place.indices()


def test_overload_that_passes_leaves_a_smaller_pace(place: Place, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "CHUNK_ITEMS", 100)
    left = [5]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path) or left[0] == 0:
            return None
        left[0] -= 1
        return BUSY

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["proof"]["agrees"], report["retries"]) == (MANY, True, 5)
    assert report["pace"]["senders"] == 1
    assert LEAST_BYTES <= report["pace"]["bytes"] < 2 * 1024 * 1024
