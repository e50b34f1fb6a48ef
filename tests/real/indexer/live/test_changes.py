"""Live changes: put and deleted in what serves and in what is being loaded; the later change wins everywhere."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import create_generation, swap
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import LOSE, Fault, Wire, is_bulk


def upsert(place: Place, changed: list[dict[str, Any]], *options: str, code: int = 0) -> dict[str, Any]:
    return place.json("upsert", "-", "--platform", "730", "--quiet", *options, stdin=lines(changed), code=code)


def delete(place: Place, *what: str, stdin: str = "", code: int = 0) -> dict[str, Any]:
    return place.json("delete", "--platform", "730", "--quiet", *what, stdin=stdin, code=code)


def names(place: Place) -> dict[int, str]:
    """What serves, by id."""
    place.client.indices.refresh(index=place.alias)
    hits = place.client.search(index=place.alias, body={"size": 1000})["hits"]["hits"]
    return {int(hit["_id"]): hit["_source"]["name"] for hit in hits}


def _changed(number: int, name: str) -> dict[str, Any]:
    return {"id": number, "name": name}


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


def test_items_are_put_replaced_and_deleted(place: Place) -> None:
    place.load(items(4))
    report = upsert(place, [_changed(2, "new two"), _changed(9, "nine")])
    assert (report["read"], report["written"], report["superseded"], report["rejected"]) == (2, 2, 0, 0)
    report = delete(place, "1", "77", "-", stdin='3\n\n{"id": 4, "name": "whatever"}\n')
    assert (report["read"], report["deleted"], report["missing"]) == (4, 3, 1)
    assert names(place) == {2: "new two", 9: "nine"}


def test_without_a_loaded_index_changes_are_refused(place: Place) -> None:
    for report in (upsert(place, items(1), code=1), delete(place, "1", code=1)):
        assert "nothing is loaded" in report["error"]
    assert place.indices() == []


def test_an_index_of_another_definition_takes_no_changes(place: Place) -> None:
    old = f"{place.alias}-20200101000000000-00000000"
    place.client.indices.create(index=old, body={"aliases": {place.alias: {}}})
    assert "another definition" in upsert(place, items(1), code=1)["error"]


def test_refused_lines_are_listed_and_all_others_are_done(place: Place) -> None:
    place.load(items(2))
    report = upsert(place, [{"id": 5}, *items(1, first=6)], code=1)
    assert (report["read"], report["written"], report["rejected"]) == (2, 1, 1)
    row = orjson.loads(Path(report["rejects"]).read_bytes())
    assert (row["line"], row["id"], row["field"]) == (1, 5, "name")
    report = delete(place, "-", stdin="6\nsix\n9223372036854775808\n", code=1)
    assert (report["deleted"], report["rejected"]) == (1, 2)
    assert sorted(names(place)) == [1, 2]


def test_of_two_changes_of_one_item_the_later_wins(place: Place) -> None:
    place.load(items(1))
    report = upsert(place, [_changed(1, "first"), _changed(1, "second")])
    assert (report["written"], report["superseded"]) == (1, 1)
    assert names(place) == {1: "second"}


def test_a_change_that_is_overtaken_changes_nothing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.load(items(2))
    upsert(place, [_changed(1, "later")])
    delete(place, "2")
    monkeypatch.setattr("indexer.live.writer.time.time_ns", lambda: 10**18)  # a change from long ago that arrives now
    report = upsert(place, [_changed(1, "earlier"), _changed(2, "earlier")])
    assert (report["written"], report["superseded"]) == (0, 2)
    assert names(place) == {1: "later"}


def test_a_change_whose_answer_is_lost_is_done_and_counted_once(place: Place, wire: Wire) -> None:
    place.load(items(2))
    lost: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) and len(lost) < 2:
            lost.append(path)
            return LOSE
        return None

    wire.rule = rule
    assert upsert(place, [_changed(1, "new")])["written"] == 1
    assert delete(place, "2")["missing"] + delete(place, "1")["deleted"] >= 1
    assert names(place) == {}


def test_changes_during_a_load_are_in_the_new_index(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = replace(place, chunk_items=2)
    place.load(items(20))

    def act() -> None:
        assert len(upsert(place, [_changed(1, "live"), _changed(20, "live"), _changed(99, "live")])["indices"]) == 2
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


@pytest.mark.parametrize("moment", ["_aliases", "point_in_time", "_cluster/health"])
def test_changes_between_the_filling_and_the_swap_are_not_lost(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    place.load(items(5))

    def act() -> None:
        upsert(place, [_changed(1, "live")])
        delete(place, "2")

    _when(wire, lambda _, path: moment in path, lambda: _direct(place, monkeypatch, opensearch_url, act))
    assert place.load(items(5))["swapped"] is True
    assert names(place) == {1: "live", 3: "Item 3", 4: "Item 4", 5: "Item 5"}


@pytest.mark.parametrize("verb", ["upsert", "delete"])
def test_a_change_that_finds_its_load_ended_is_done_in_what_serves(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The indices are looked up, then the load swaps, then the change arrives."""
    place.load(items(3))
    loading = f"{place.alias}-29990101000000000-{place.json('status', '--platform', '730')['fingerprint']}"
    (held,) = place.client.indices.get(index=place.alias).values()
    create_generation(place.client, loading, f"{loading}-loading")
    place.client.indices.put_mapping(index=loading, body={"_meta": held["mappings"]["_meta"]})
    _when(
        wire,
        lambda _, path: is_bulk(path) and "-products" not in path,
        lambda: swap(place.client, place.alias, loading),
    )
    if verb == "upsert":
        assert upsert(place, [_changed(1, "live")])["indices"] == [loading]
        assert names(place) == {1: "live"}
    else:
        assert delete(place, "1")["missing"] == 1
    assert not place.client.indices.exists(index=f"{loading}-loading")


def test_sold_items_stay_sold_when_they_are_changed(place: Place, shop: Shop) -> None:
    place.load(items(3))
    shop.sell(1)
    assert shop.publish() == {1: True}
    report = upsert(place, [_changed(1, "sold"), _changed(2, "free")])
    assert (report["written"], report["bound"]) == (2, 1)
    assert place.client.get(index=place.alias, id="1")["_source"]["bound"] is True
    assert place.client.get(index=place.alias, id="2")["_source"]["bound"] is False
    assert shop.publish() == {1: True}  # the dispatcher tells the truth once more; of 2 there is none


def test_an_order_placed_while_its_item_is_changed_is_indexed_again(place: Place, shop: Shop, wire: Wire) -> None:
    place.load(items(3))

    def act() -> None:
        shop.sell(1)
        assert shop.publish() == {1: True}  # told to the document that is replaced now

    _when(wire, lambda _, path: is_bulk(path), act)
    assert upsert(place, [_changed(1, "sold")])["bound"] == 0
    assert shop.publish() == {1: True}
