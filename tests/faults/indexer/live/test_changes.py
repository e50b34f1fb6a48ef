"""Live changes over faults and beside loads: none is lost, and each is done and counted once."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation, swap
from tests.support.indexer.live_changes import changed_item, delete, names, upsert
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import LOSE, Fault, Wire, is_bulk


def _when(wire: Wire, what: Callable[[str, str], bool], act: Callable[[], None]) -> None:
    """Acts once, before the engine sees the first such request, or those of other threads that come meanwhile."""
    done: list[bool] = []
    turn = threading.Lock()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if what(method, path) and not done:
            with turn:
                if not done:
                    act()
                    done.append(True)
        return None

    wire.rule = rule


def _direct(place: Place, monkeypatch: pytest.MonkeyPatch, url: str, act: Callable[[], None]) -> None:
    """Acts past the wire that a load's requests go through."""
    through = place.environment["GEAR_OPENSEARCH_URL"]
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", url)
    try:
        act()
    finally:
        monkeypatch.setenv("GEAR_OPENSEARCH_URL", through)


def test_a_change_whose_answer_is_lost_is_done_and_counted_once(place: Place, wire: Wire) -> None:
    place.load(items(2))
    lost: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and len(lost) < 2:
            lost.append(path)
            return LOSE
        return None

    wire.rule = rule
    assert upsert(place, [changed_item(1, "new")])["written"] == 1
    assert delete(place, "2")["missing"] + delete(place, "1")["deleted"] >= 1
    assert names(place) == {}


def test_changes_during_a_load_are_in_the_new_index(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = replace(place, chunk_items=2)
    place.load(items(20))

    def act() -> None:
        assert (
            len(upsert(place, [changed_item(1, "live"), changed_item(20, "live"), changed_item(99, "live")])["indices"])
            == 2
        )
        delete(place, "2", "19")

    halfway = threading.Event()

    def when(method: str, path: str) -> bool:
        if is_bulk(path) and "-loading" in path and wire.bulks > 13:
            halfway.set()
        return halfway.is_set()

    _when(wire, when, lambda: _direct(place, monkeypatch, opensearch_url, act))
    report = place.load(items(20))
    assert halfway.is_set()
    expected = {number: f"Item {number}" for number in range(1, 21)} | {1: "live", 20: "live", 99: "live"}
    assert names(place) == {number: name for number, name in expected.items() if number not in (2, 19)}
    assert report["superseded"] > 0
    proof = report["proof"]
    assert (proof["changedLive"], proof["deletedLive"], proof["agrees"]) == (3, 2, True)


@pytest.mark.parametrize("endpoint", ["_aliases", "point_in_time", "_cluster/health"])
def test_changes_between_the_filling_and_the_swap_are_not_lost(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    place.load(items(5))

    def act() -> None:
        upsert(place, [changed_item(1, "live")])
        delete(place, "2")

    _when(wire, lambda _, path: endpoint in path, lambda: _direct(place, monkeypatch, opensearch_url, act))
    assert place.load(items(5))["swapped"] is True
    assert names(place) == {1: "live", 3: "Item 3", 4: "Item 4", 5: "Item 5"}


@pytest.mark.parametrize("verb", ["upsert", "delete"])
def test_a_change_that_finds_its_load_ended_is_done_in_what_serves(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The indices are looked up, then the load swaps, then the change arrives."""
    place.load(items(3))
    loading = f"{place.alias}-29990101000000000-{place.json('status', '--platform', '730')['fingerprint']}"
    (serving,) = place.client.indices.get(index=place.alias).values()
    create_generation(place.client, loading, f"{loading}-loading")
    place.client.indices.put_mapping(index=loading, body={"_meta": serving["mappings"]["_meta"]})
    _when(
        wire,
        lambda _, path: is_bulk(path) and "-products" not in path,
        lambda: swap(place.client, place.alias, loading),
    )
    if verb == "upsert":
        assert upsert(place, [changed_item(1, "live")])["indices"] == [loading]
        assert names(place) == {1: "live"}
    else:
        assert delete(place, "1")["missing"] == 1
    assert not place.client.indices.exists(index=f"{loading}-loading")


def test_an_order_placed_while_its_item_is_changed_is_indexed_again(place: Place, shop: Shop, wire: Wire) -> None:
    place.load(items(3))

    def act() -> None:
        shop.sell(1)
        assert shop.publish() == {1: True}  # told to the document that is replaced now

    _when(wire, lambda _, path: is_bulk(path), act)
    assert upsert(place, [changed_item(1, "sold")])["bound"] == 0
    assert shop.publish() == {1: True}
