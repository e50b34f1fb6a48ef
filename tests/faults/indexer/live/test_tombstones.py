"""The record of live deletes: what is older than a delete and arrives after it changes nothing, whatever it meets."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from opensearchpy import OpenSearch

from indexer.documents.product import product_of
from indexer.engine.bulk import Outcome
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.engine.tombstones import Tombstones
from indexer.live.change import Change
from indexer.live.writer import LiveWriter
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.names import generation_name, tombstones_alias
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk

RETRY = RetryPolicy(30)
SECOND = 10**6
HOUR = 3600 * SECOND


def now() -> int:
    return time.time_ns() // 1000


def writer(client: OpenSearch, place: Place) -> LiveWriter:
    return LiveWriter(client, place.alias, read_definition(), None, RETRY)


def put(number: int, version: int, name: str = "live") -> Change:
    item = b'{"id":%d}' % number
    document: dict[str, Any] = {"id": number, "platform": 730, "name": name, "item": item, "shared": []}
    return Change(number, {**document, "product": product_of(document).key}, version)


def delete(number: int, version: int) -> Change:
    return Change(number, None, version)


def forget(place: Place) -> None:
    """Has the engine forget what was deleted, as it does in time."""
    place.client.indices.put_settings(index=place.alias, body={"index": {"gc_deletes": "1ms"}})
    time.sleep(0.002)
    place.client.indices.refresh(index=place.alias)


@pytest.fixture
def send(place: Place, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Outcome]]:
    """Sends changes to a platform that was loaded two hours ago; what became of them, by ascending id."""
    with monkeypatch.context() as context:
        present = time.time_ns()
        context.setattr("indexer.loading.load.time.time_ns", lambda: present - 2 * HOUR * 1000)
        place.load(items(2))
    live = writer(place.client, place)

    def send(*changes: Change) -> list[Outcome]:
        results = live.write([*changes]).results
        place.client.indices.refresh(index=place.alias)
        return [outcome for _, (outcome, _) in sorted(results.items())]

    return send


def test_an_older_upsert_after_a_delete_that_the_engine_has_forgotten_is_superseded(
    place: Place, send: Callable[..., list[Outcome]]
) -> None:
    deleted = now() - HOUR
    assert send(delete(1, deleted), delete(9, deleted)) == [Outcome.DONE, Outcome.MISSING]
    forget(place)
    older, newer = put(1, deleted - 1), put(9, deleted + 1)
    assert send(older, newer) == [Outcome.SUPERSEDED, Outcome.DONE]
    assert place.served() == [2, 9]
    assert send(delete(9, deleted)) == [Outcome.SUPERSEDED]
    assert place.served() == [2, 9]


def test_each_change_of_a_batch_has_its_own_time(place: Place, send: Callable[..., list[Outcome]]) -> None:
    start = now() - HOUR
    assert send(put(1, start + 5), put(2, start + 1), delete(3, start + 9)) == [
        Outcome.DONE,
        Outcome.DONE,
        Outcome.MISSING,
    ]
    assert send(put(1, start + 4), put(2, start + 2), put(3, start + 8)) == [
        Outcome.SUPERSEDED,
        Outcome.DONE,
        Outcome.SUPERSEDED,
    ]


def test_a_change_from_before_the_load_changes_nothing(place: Place, send: Callable[..., list[Outcome]]) -> None:
    """The catalogue is newer, and does not have the item or has it otherwise."""
    assert send(put(1, now() - 3 * HOUR), put(7, now() - 3 * HOUR), delete(2, now() - 3 * HOUR)) == [
        Outcome.SUPERSEDED,
        Outcome.SUPERSEDED,
        Outcome.SUPERSEDED,
    ]
    assert place.served() == [1, 2]


def test_a_change_from_before_a_load_that_is_swapped_in_between_changes_nothing(place: Place, wire: Wire) -> None:
    """The load ends between the look at the indices and the write, which reaches its index through the alias."""
    place.load(items(2))
    through = connect(SearchSettings(), retries=0)
    reached, loaded = threading.Event(), threading.Event()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and place.alias in path and not reached.is_set():
            reached.set()
            assert loaded.wait(60)
        return None

    wire.rule = rule
    before_load = now()
    changes = [put(1, before_load), put(7, before_load), put(8, before_load + 60 * SECOND)]
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(writer(through, place).write, changes)
        assert reached.wait(60)
        place.load(items(3))
        loaded.set()
        results = sending.result().results
    through.close()
    assert [results[number][0] for number in (1, 7, 8)] == [Outcome.SUPERSEDED, Outcome.SUPERSEDED, Outcome.DONE]
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [1, 2, 3, 8]


def test_a_change_from_before_a_load_that_has_just_made_its_index_is_taken_back(place: Place, wire: Wire) -> None:
    """The load's time is not known yet when the change looks at the indices."""
    place.load(items(2))
    generations = Generations(place.client, place.alias, read_definition(), RETRY)
    index = generation_name(place.alias, datetime.now(UTC), read_definition().fingerprint)
    generations.create(index, "somebody")
    through = connect(SearchSettings(), retries=0)
    started: list[int] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and not started:
            started.append(now())
            generations.begin(index, started[0], "somebody")
        return None

    wire.rule = rule
    earlier = now() - 1
    names = writer(through, place).write([put(7, earlier)]).indices
    through.close()
    assert names[0] == index
    assert started[0] > earlier
    place.client.indices.refresh(index=index)
    assert place.client.count(index=index)["count"] == 0
    assert place.client.get(index=place.alias, id="7")["found"]


def test_an_upsert_that_is_retried_over_a_delete_does_not_bring_the_item_back(
    place: Place, send: Callable[..., list[Outcome]], wire: Wire
) -> None:
    """The delete comes between the look at the record and the write, and the engine has forgotten it by then."""
    through = connect(SearchSettings(), retries=0)
    cut: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not is_bulk(path) or cut:
            return None
        cut.append(path)
        assert send(delete(1, at + 1)) == [Outcome.DONE]
        forget(place)
        return CUT

    at = now()
    wire.rule = rule
    results = writer(through, place).write([put(1, at)]).results
    through.close()
    assert results[1][0] is Outcome.SUPERSEDED
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [2]


def test_records_stay_for_two_days_and_as_long_as_a_load_needs_them(
    place: Place, send: Callable[..., list[Outcome]], monkeypatch: pytest.MonkeyPatch
) -> None:
    send(delete(1, now()))
    alias = tombstones_alias(place.alias)

    def recorded() -> list[str]:
        place.client.indices.refresh(index=alias)
        return sorted(hit["_id"] for hit in place.client.search(index=alias)["hits"]["hits"])

    old = now() - 49 * HOUR
    for number in ("3", "4"):
        place.client.index(index=alias, id=number, body={"id": int(number), "version": old, "at": old})
    assert recorded() == ["1", "3", "4", "checkpoint"]
    Tombstones(place.client, place.alias, RETRY).prune(old - HOUR)
    assert recorded() == ["1", "3", "4", "checkpoint"]
    Tombstones(place.client, place.alias, RETRY).prune(now())
    assert recorded() == ["1", "checkpoint"]


def test_a_record_that_is_missing_is_made_again(place: Place, send: Callable[..., list[Outcome]]) -> None:
    place.client.indices.delete(index=f"{tombstones_alias(place.alias)}-v1")
    assert send(put(1, now() - HOUR), delete(2, now())) == [Outcome.DONE, Outcome.DONE]
    assert send(put(2, now() - HOUR)) == [Outcome.SUPERSEDED]


def test_a_record_that_cannot_be_read_yet_is_asked_for_again(
    place: Place, send: Callable[..., list[Outcome]], wire: Wire
) -> None:
    """As after a restart of the engine, while the shard of the records is not started."""
    deleted = now() - HOUR
    send(delete(1, deleted))
    forget(place)
    through = connect(SearchSettings(), retries=0)
    failures = [200, 200]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if "_mget" not in path or tombstones_alias(place.alias) not in path or not failures:
            return None
        error = {"type": "no_shard_available_action_exception", "reason": "not started"}
        content = orjson.dumps({"docs": [{"_id": "1", "error": error}]})
        return Fault("response", failures.pop(), content)

    wire.rule = rule
    results = writer(through, place).write([put(1, deleted - 1)]).results
    through.close()
    assert not failures
    assert results[1][0] is Outcome.SUPERSEDED
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [2]
