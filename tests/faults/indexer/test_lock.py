"""The lock of a load that is cut off: who lost it stops, and lost responses lose nothing."""

import random
import threading
from dataclasses import replace

import pytest

from indexer.locking.lock import LockLostError
from mappings.definition import read_definition
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import create_generation
from tests.support.indexer.holders import (
    ELSEWHERE,
    MANY,
    load_with,
    lock,
    records,
    source_of,
    take_over,
    taken_from_the_living,
)
from tests.support.indexer.wire import CUT, LOSE, Fault, Wire, is_bulk, pass_all
from tests.support.services.wire import TcpProxy


@pytest.fixture
def place(place: Place) -> Place:
    """Many requests for few items."""
    return replace(place, chunk_items=20)


def _is_lock(path: str) -> bool:
    return "-locks/" in path


def test_who_lives_and_does_not_beat_loses_the_lock(place: Place, opensearch_url: str) -> None:
    """The network between a load and the engine is broken for longer than the expiry."""
    index = place.load(items(2))["index"]
    failures: list[Exception] = []
    reached, source = threading.Event(), source_of(place)

    with TcpProxy.before(opensearch_url) as proxy, Wire(proxy.url) as wire:

        def rule(method: str, path: str, body: bytes) -> Fault | None:
            if is_bulk(path) and wire.bulks == 3:
                proxy.hang()
                reached.set()
            return None

        def load() -> None:
            try:
                load_with(place, source, wire.url, lock_expiry=0.6, chunk_items=20)
            except LockLostError as error:
                failures.append(error)

        wire.rule = rule
        thread = threading.Thread(target=load)
        thread.start()
        assert reached.wait(30)
        own_lock = taken_from_the_living(place)
        try:
            assert own_lock.previous_owner is not None
            wire.rule = pass_all
            proxy.restore()
            thread.join(60)
            left = [name for name in place.indices() if name != index]
        finally:
            own_lock.__exit__(None, None, None)
    assert len(failures) == 1
    assert f"held by gear-indexer load ({own_lock.owner})" in str(failures[0])
    assert place.served() == [1, 2]
    assert len(left) == 1, "what becomes of it is for the new owner to say"
    assert place.load(items(3))["removed"] == left


@pytest.mark.parametrize("at", ["_bulk", "/_settings", "/point_in_time"])
def test_a_load_that_was_taken_over_swaps_nothing_in(place: Place, wire: Wire, at: str) -> None:
    index = place.load(items(2))["index"]
    taken = threading.Event()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if at in path and method != "GET" and not taken.is_set():
            taken.set()
            take_over(place)
        return None

    wire.rule = rule
    report = place.load(items(MANY), code=1)
    assert "was lost" in report["error"]
    assert "(process 7 on elsewhere)" in report["error"]
    assert report["swapped"] is False
    assert place.served() == [1, 2]
    assert report["index"] in place.indices()
    assert index in place.indices()
    record = records(place).read()
    assert record is not None
    assert record.owner == ELSEWHERE, "its lock is left alone"


@pytest.mark.parametrize(
    "command", [("load", "-"), ("prune",), ("doctor", "--fix", "--without-orders")], ids=["load", "prune", "doctor"]
)
def test_who_lost_the_lock_while_it_looked_removes_nothing(place: Place, wire: Wire, command: tuple[str, ...]) -> None:
    """What it saw as the rest of a dead load may be what the new owner fills."""
    place.load(items(2))
    left = f"{place.alias}-20200101000000000-{read_definition().fingerprint}"
    create_generation(place.client, left, f"{left}-loading", owner="the dead one")
    taken = threading.Event()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        """Takes the lock over once it is held and the generations are read."""
        if method == "GET" and path.startswith(f"/{place.alias},") and not taken.is_set() and records(place).read():
            taken.set()
            take_over(place)
        return None

    wire.rule = rule
    result = place.run(*command, "--platform", "730", stdin=lines(items(2)))
    assert taken.is_set()
    assert "was lost" in result.output
    assert left in place.indices()


def test_a_lock_that_is_removed_is_a_lock_that_is_lost(place: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and wire.bulks == 2:
            place.client.indices.delete(index=f"{place.alias.rpartition('-')[0]}-locks-v1")
        return None

    wire.rule = rule
    assert "somebody removed it" in place.load(items(MANY), code=1)["error"]


@pytest.mark.parametrize("fault", [CUT, LOSE, Fault("response", 503, b"{}")])
def test_a_lock_survives_lost_answers(place: Place, wire: Wire, fault: Fault) -> None:
    """Two of five requests of the lock are broken."""
    chance, broken = random.Random(3), []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if _is_lock(path) and chance.random() < 0.4:
            broken.append(path)
            return fault
        return None

    wire.rule = rule
    assert place.load(items(3))["swapped"] is True
    wire.rule = pass_all
    assert len(broken) > 1
    with lock(place, expiry=60):
        pass
    assert records(place).read() is None
