"""Faults at the wire: everything arrives in the end, or the old index serves as before."""

import itertools
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest

from indexer.cli.context import Interruption
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.names import generation_name, products_of
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import create_generation
from tests.support.indexer.wire import CUT, LOSE, Fault, Rule, Wire, is_bulk, pass_all

MANY = 400
LISTINGS, PRODUCTS = "listings", "products"
BULK = {LISTINGS: 20, PRODUCTS: MANY}  # documents of one request; the products of so few items are sent once
BUSY = Fault("response", 429, b'{"error": {"type": "rejected_execution_exception", "reason": "busy"}, "status": 429}')
FLOOD = b"index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded, index has read-only-allow-delete block]"


@pytest.fixture
def place(place: Place) -> Place:
    """Many requests for few items."""
    return replace(place, chunk_items=20)


def _kind(path: str) -> str:
    """What a bulk request writes."""
    return PRODUCTS if "-products/" in path else LISTINGS


def _some_bulks(fault: Fault, numbers: set[int], *kinds: str) -> Rule:
    """Breaks these requests of the bulk requests of each kind, counted from 0."""
    counts = {kind: itertools.count() for kind in kinds}

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        broken = is_bulk(path) and _kind(path) in counts and next(counts[_kind(path)]) in numbers
        return fault if broken else None

    return rule


@pytest.mark.parametrize("fault", [CUT, LOSE, BUSY, Fault("response", 503, b"{}"), Fault("response", 502, b"<html>")])
def test_a_load_survives_faults_that_pass(place: Place, wire: Wire, fault: Fault) -> None:
    wire.rule = _some_bulks(fault, {0, 1, 5, 6, 7}, LISTINGS, PRODUCTS)
    report = place.load(items(MANY))
    assert (report["indexed"], report["rejected"], report["swapped"]) == (MANY, 0, True)
    assert place.served() == list(range(1, MANY + 1))
    assert wire.bulks > MANY / 20


def test_only_the_items_that_were_too_much_are_sent_again(place: Place, wire: Wire) -> None:
    """Requests that are answered item by item: of the first one of each kind, every second document was too much."""
    sizes: dict[str, list[int]] = {LISTINGS: [], PRODUCTS: []}

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path):
            return None
        lines = body.splitlines(keepends=True)
        sizes[_kind(path)].append(len(lines) // 2)
        if len(sizes[_kind(path)]) > 1:
            return None
        taken = b"".join(b"".join(lines[at : at + 2]) for at in range(0, len(lines), 4))
        wire.forward(method, path, taken, "application/x-ndjson")
        busy = {"index": {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "full"}}}
        results = [{"index": {"status": 201}}, busy] * (len(lines) // 4)
        return Fault("response", 200, orjson.dumps({"errors": True, "items": results}))

    wire.rule = rule
    report = place.load(items(20))
    assert (report["indexed"], report["rejected"]) == (20, 0)
    assert sizes == {LISTINGS: [20, 10], PRODUCTS: [20, 10]}
    assert place.served() == list(range(1, 21))


def test_an_engine_that_goes_away_and_comes_back_gets_everything(place: Place, wire: Wire) -> None:
    cut = threading.Event()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and wire.bulks == 4 and not cut.is_set():
            cut.set()
            threading.Timer(1.5, lambda: setattr(wire, "rule", pass_all)).start()
        return CUT if cut.is_set() else None

    wire.rule = rule
    report = place.load(items(MANY))
    assert (report["indexed"], report["swapped"]) == (MANY, True)
    assert len(place.served()) == MANY


def test_an_engine_that_stays_away_keeps_the_old_index(place: Place, wire: Wire) -> None:
    old = place.load(items(2))["index"]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return CUT if is_bulk(path) else None

    wire.rule = rule
    report = place.load(items(MANY), "--retry-timeout", "0.5", code=1)
    assert "gave up after 0.5 seconds" in report["error"]
    assert report["swapped"] is False
    assert place.indices() == [old]
    assert place.served() == [1, 2]


def test_an_engine_that_is_gone_altogether_leaves_what_prune_removes(place: Place, wire: Wire) -> None:
    old = place.load(items(2))["index"]
    before = wire.bulks

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return CUT if wire.bulks >= before + 3 else None

    wire.rule = rule
    result = place.run("load", "-", "--platform", "730", "--retry-timeout", "0.4", stdin=lines(items(MANY)))
    assert result.exit_code == 1
    assert "could not be removed" in result.stderr
    assert "`gear-indexer prune` removes it" in result.stderr
    assert place.served() == [1, 2]
    wire.rule = pass_all
    assert place.json("prune", "--platform", "730")["kept"] == [old]
    assert place.indices() == [old]


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (Fault("response", 413, b"{}"), "413"),
        (
            Fault("response", 403, b'{"error": {"type": "security_exception", "reason": "no"}}'),
            "GEAR_OPENSEARCH_USERNAME",
        ),
        (Fault("response", 200, b'{"errors": false, "items": []}'), " items with 0 results"),
        (Fault("response", 200, b'{"errors": false}'), "with no list of results"),
    ],
)
@pytest.mark.parametrize(("kind", "first"), [(LISTINGS, 2), (PRODUCTS, 0)])
def test_faults_that_do_not_pass_stop_the_load_at_once(
    place: Place, wire: Wire, response: Fault, sentence: str, kind: str, first: int
) -> None:
    wire.rule = _some_bulks(response, set(range(first, 1000)), kind)
    report = place.load(items(MANY), code=1)
    assert sentence in report["error"]
    assert place.indices() == []


def test_a_product_that_the_engine_refuses_stops_the_load(place: Place, wire: Wire) -> None:
    """An item without its product would be found by no text."""
    result = {"create": {"status": 400, "error": {"type": "mapper_parsing_exception", "reason": "no"}}}
    wire.rule = _some_bulks(
        Fault("response", 200, orjson.dumps({"errors": True, "items": [result] * MANY})), {0}, PRODUCTS
    )
    report = place.load(items(MANY), code=1)
    assert 'the engine refused the product {"product":' in report["error"]
    assert report["error"].endswith("mapper_parsing_exception: no")
    assert report["swapped"] is False
    assert place.indices() == []


def test_an_item_that_is_refused_for_another_reason_than_its_content_stops_the_load(place: Place, wire: Wire) -> None:
    """A user without rights and an index that is blocked: the next item would be refused too."""
    result = {"index": {"status": 403, "error": {"type": "cluster_block_exception", "reason": "no"}}}
    wire.rule = _some_bulks(
        Fault("response", 200, orjson.dumps({"errors": True, "items": [result] * 20})), {2}, LISTINGS
    )
    report = place.load(items(MANY), code=1)
    assert re.search(r"the engine refused item \d+ \(-, line \d+\): 403 cluster_block_exception: no", report["error"])
    assert (report["rejected"], report["swapped"]) == (0, False)
    assert place.indices() == []


@pytest.mark.parametrize("kind", [LISTINGS, PRODUCTS])
def test_a_disk_that_is_full_is_named(place: Place, wire: Wire, kind: str) -> None:
    error = {"type": "cluster_block_exception", "reason": FLOOD.decode()}
    result = {"index": {"status": 429, "error": error}}
    response = Fault("response", 200, orjson.dumps({"errors": True, "items": [result] * BULK[kind]}))
    wire.rule = _some_bulks(response, {0}, kind)
    report = place.load(items(MANY), code=1)
    assert "disk is too full" in report["error"]
    assert place.indices() == []


def test_a_really_read_only_index_stops_the_load(place: Place, wire: Wire) -> None:
    """The block that the engine itself sets at the flood stage."""

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and wire.bulks == 3:
            block = {"index.blocks.read_only_allow_delete": True}
            place.client.indices.put_settings(index=f"{place.alias}-*", body=block)
        return None

    wire.rule = rule
    report = place.load(items(MANY), code=1)
    assert "disk is too full" in report["error"]
    assert place.indices() == []


def test_an_index_that_somebody_removes_is_not_made_again_by_a_late_request(place: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and wire.bulks == 3:
            place.client.indices.delete(index=f"{place.alias}-*")
        return None

    wire.rule = rule
    report = place.load(items(MANY), code=1)
    assert "index_not_found_exception" in report["error"]
    assert report["swapped"] is False
    assert place.indices() == []


def test_settings_that_do_not_stay_stop_the_swap(place: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        is_settings = method == "PUT" and path.endswith("/_settings")
        return Fault("response", 200, b'{"acknowledged": true}') if is_settings else None

    wire.rule = rule
    report = place.load(items(3), code=1)
    assert "refresh_interval is -1 instead of 1s" in report["error"]
    assert place.indices() == []


def test_an_item_that_the_engine_lost_stops_the_swap(place: Place, wire: Wire) -> None:
    results = [{"index": {"status": 201}}] * 20
    wire.rule = _some_bulks(Fault("response", 200, orjson.dumps({"errors": False, "items": results})), {3}, LISTINGS)
    report = place.load(items(MANY), code=1)
    assert f"has {MANY - 20} items of this load" in report["error"]
    assert report["proof"]["expected"]["items"] == MANY
    assert place.indices() == []


def test_an_older_load_does_not_replace_a_younger_one(place: Place, wire: Wire) -> None:
    younger = f"{place.alias}-29990101000000000-00000000"

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.endswith("/_settings") and method == "PUT" and not place.client.indices.exists(index=younger):
            place.client.indices.create(index=younger, body={"aliases": {place.alias: {}}})
        return None

    wire.rule = rule
    report = place.load(items(3), code=1)
    assert "begun later" in report["error"]
    assert place.indices() == [younger]


@pytest.mark.parametrize("called", ["/_refresh", "/_count", "/_cluster/health", "/_settings", "GET /"])
def test_calls_around_the_filling_are_tried_again_too(place: Place, wire: Wire, called: str) -> None:
    count = itertools.count()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path == "/" or is_bulk(path) or (called == "GET /" and method != "GET"):
            return None
        return CUT if called.removeprefix("GET ") in path and next(count) == 0 else None

    wire.rule = rule
    assert place.load(items(3))["swapped"] is True


def test_copies_are_waited_for_as_long_as_the_engine_is_asked_to(place: Place, wire: Wire) -> None:
    """A wait as long as the client's other requests got no answer, and a load of 30 million gave up over it."""
    waited: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "wait_for_no_initializing_shards" in path:
            waited.append(path)
            time.sleep(2.5)
        return None

    wire.rule = rule
    impatient = connect(SearchSettings(), timeout=1.5)
    generations = Generations(impatient, place.alias, read_definition(), RetryPolicy(30))
    index = generation_name(place.alias, datetime.now(UTC), read_definition().fingerprint)
    generations.create(index, "somebody")
    copies = generations.prepare(index, wait_seconds=1)
    impatient.close()
    assert copies["allocated"] > 0
    assert len(waited) == 1


def test_a_generation_that_was_removed_before_its_swap_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    old = place.load(items(1))["index"]

    @contextmanager
    def hold(_: Interruption) -> Iterator[None]:
        place.client.indices.delete(index=f"{place.alias}-*,-{old},-{products_of(old)}")
        yield

    monkeypatch.setattr(Interruption, "hold", hold)
    report = place.load(items(2), code=1)
    assert "has no generation" in report["error"]
    assert place.served() == [1]


def test_a_load_by_a_clock_that_is_behind_ends_before_it_begins(place: Place) -> None:
    younger = f"{place.alias}-29990101000000000-00000000"
    create_generation(place.client, younger, place.alias)
    report = place.load(items(3), code=1)
    assert "clock" in report["error"]
    assert (report["read"], report["phases"]) == (0, {})
    assert place.indices() == [younger]


def test_a_prune_that_fails_says_what_it_has_removed(place: Place, wire: Wire) -> None:
    first, second, _ = (place.load(items(1, first=number), "--keep", "9")["index"] for number in (1, 2, 3))
    refused = Fault("response", 403, b'{"error": {"type": "security_exception", "reason": "no"}}')
    wire.rule = lambda method, path, body: refused if method == "DELETE" and second in path else None
    report = place.json("prune", "--platform", "730", "--keep", "1", code=1)
    assert "security_exception" in report["error"]
    assert (report["alias"], report["removed"]) == (place.alias, [first])
