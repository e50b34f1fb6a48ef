"""A load sends less while the engine has too much to do, splits what is too large, and loses nothing."""

import threading
import time
from dataclasses import replace

from indexer.engine.throttle import MIN_REQUEST_BYTES, REQUEST_BYTES
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.holders import load_with
from tests.support.indexer.wire import Fault, Wire, is_bulk

BUSY = Fault("response", 429, b'{"error": {"type": "rejected_execution_exception", "reason": "busy"}, "status": 429}')
TOO_LARGE = Fault("response", 413, b"<html>413 Request Entity Too Large</html>")
MANY = 3000


def test_an_engine_that_takes_one_request_at_a_time_gets_no_more(place: Place, wire: Wire) -> None:
    place = replace(place, chunk_items=50)
    lock = threading.Lock()
    refused: list[float] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        if not lock.acquire(blocking=False):
            refused.append(time.monotonic())
            return BUSY
        try:
            status, _, response = wire.forward(method, path, body, "application/x-ndjson")
            return Fault("response", status, response)
        finally:
            lock.release()

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["proof"]["agrees"]) == (MANY, True)
    assert report["throttle"]["concurrency"] == 1
    # it learnt that from the first refusals, although fifty more requests followed
    assert 1 <= report["throttle"]["throttled"] < 10
    assert report["retries"] == len(refused) < 10


def test_the_requests_in_flight_stay_within_their_bound(place: Place, wire: Wire) -> None:
    bound = 40_000
    changed = threading.Condition()
    in_flight: list[int] = []
    totals: list[int] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        with changed:
            in_flight.append(len(body))
            totals.append(sum(in_flight))
            changed.notify_all()
            # the first ones wait for each other, so that more than one is in flight at a time
            changed.wait_for(lambda: len(in_flight) > 1 or len(totals) > 2, timeout=10)
        status, _, response = wire.forward(method, path, body, "application/x-ndjson")
        with changed:
            in_flight.remove(len(body))
        return Fault("response", status, response)

    wire.rule = rule
    source = place.folder / "many.ndjson"
    source.write_bytes(lines(items(MANY)))
    report = load_with(place, source, wire.url, concurrency=16, max_bytes_in_flight=bound, chunk_items=20)
    assert (report.indexed, report.swapped) == (MANY, True)
    assert max(totals) <= bound
    assert len(totals) > 1


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
    assert report["throttle"]["bytes"] <= limit
    assert report["retries"] == 0
    assert place.served()[:3] == [1, 2, 3]


def test_an_item_that_alone_is_too_large_is_named(place: Place, wire: Wire) -> None:
    old = place.load(items(3))["index"]
    for part, name in ((b'"_id":"7"', "item 7 (-, line 7) has"), (b'"name":"Item 7"}', '"name":"Item 7"} has')):

        def rule(method: str, path: str, body: bytes, part: bytes = part) -> Fault | None:
            return TOO_LARGE if is_bulk(path) and part in body else None

        wire.rule = rule
        report = place.load(items(MANY), code=1)
        assert name in report["error"]
        assert "413" in report["error"]
    assert not report["swapped"]
    assert old in place.indices()


def test_overload_that_passes_leaves_smaller_requests(place: Place, wire: Wire) -> None:
    place = replace(place, chunk_items=100)
    refusals = [4]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path) or refusals[0] == 0:
            return None
        refusals[0] -= 1
        return BUSY

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["proof"]["agrees"], report["retries"]) == (MANY, True, 4)
    assert report["throttle"]["concurrency"] == 1
    assert MIN_REQUEST_BYTES <= report["throttle"]["bytes"] < REQUEST_BYTES
