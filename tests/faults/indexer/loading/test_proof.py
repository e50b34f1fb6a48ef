"""The proof before a swap: an index that is not exactly what was read never serves, and the report says both sides."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from indexer.documents.checked_item import CheckedItem
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from mappings.platforms import Platform
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.wire import Fault, Wire


def _before_the_proof(place: Place, wire: Wire, act: Callable[[str], None]) -> None:
    """Acts on the new index once, behind the load's back: after the warm-up, before it is read for the proof."""
    warmed: list[str] = []
    done: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        index = path.split("/")[1]
        if b"redline" in body and "/_search" in path:
            warmed.append(index)
        if warmed and "point_in_time" in path and method == "POST" and not done:
            done.append(index)
            act(index)
            place.client.indices.refresh(index=index)
        return None

    wire.rule = rule


def _version(place: Place, index: str) -> int:
    return int(place.client.search(index=index, body={"size": 1})["hits"]["hits"][0]["_source"]["version"])


def test_a_load_proves_that_it_holds_what_was_read(place: Place) -> None:
    report = place.load(items(50))
    proof = report["proof"]
    assert proof["agrees"] is True
    assert proof["expected"] == proof["found"]
    assert proof["found"]["items"] == 50
    assert (proof["unexpected"], proof["changedLive"], proof["deletedLive"]) == (0, 0, 0)
    again = place.load(list(reversed(items(50))))
    assert again["proof"]["found"] == proof["found"]
    assert place.load(items(50, first=2))["proof"]["found"]["digest"] != proof["found"]["digest"]


def test_items_that_the_engine_refused_are_not_expected(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def with_an_unknown_field(item: CheckedItem, platform: Platform) -> dict[str, Any]:
        return {**index_document(item, platform), **({"x": 1} if item.id == 2 else {})}

    monkeypatch.setattr("indexer.loading.items.index_document", with_an_unknown_field)
    report = place.load(items(3), "--max-rejects", "40")
    assert (report["proof"]["agrees"], report["proof"]["expected"]["items"]) == (True, 2)
    assert sum(report["reasons"].values()) == 1


def _lose(place: Place, index: str) -> None:
    place.client.delete(index=index, id="7")


def _lose_one_and_add_another(place: Place, index: str) -> None:
    """The count is right."""
    source = place.client.get(index=index, id="7")["_source"]
    place.client.delete(index=index, id="7")
    place.client.index(index=index, id="70", body={**source, "id": 70, "digest": {**source["digest"], "d": 1}})


def _alter(place: Place, index: str) -> None:
    """An older price of the item, with the digest that belongs to it."""
    source = place.client.get(index=index, id="7")["_source"]
    document = {name: value for name, value in source.items() if name not in ("version", "digest")}
    older = {**document, "price": 9900, "item": b"another", "shared": []}
    pieces, _ = encode_document(older, _version(place, index))
    place.client.index(index=index, id="7", body=b"".join(pieces))


def _add(place: Place, index: str) -> None:
    source = place.client.get(index=index, id="7")["_source"]
    place.client.index(index=index, id="70", body={**source, "id": 70})


def _add_without_a_version(place: Place, index: str) -> None:
    place.client.index(index=index, id="70", body={"id": 70, "name": "from elsewhere"})


FAULTS = [_lose, _lose_one_and_add_another, _alter, _add, _add_without_a_version]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("_"))
def test_a_document_lost_altered_or_added_behind_the_loads_back_stops_the_swap(
    place: Place, wire: Wire, fault: Callable[[Place, str], None]
) -> None:
    old = place.load(items(20))["index"]
    _before_the_proof(place, wire, lambda index: fault(place, index))
    report = place.load(items(20), code=1)
    assert "does not hold what was read" in report["error"]
    assert (report["swapped"], report["proof"]["agrees"]) == (False, False)
    assert place.indices() == [old]


def test_an_item_altered_on_its_way_stops_the_swap(place: Place, wire: Wire) -> None:
    """The engine is sent one item twice in the place of two, and all it says is that both are done."""

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if not path.partition("?")[0].endswith("/_bulk"):
            return None
        rows = body.splitlines(keepends=True)
        status, _, response = wire.forward(
            method, path, b"".join([*rows[:2], *rows[:2], *rows[4:]]), "application/x-ndjson"
        )
        return Fault("response", status, response)

    wire.rule = rule
    report = place.load(items(10), code=1)
    assert report["proof"]["found"]["items"] == 9
    assert place.indices() == []


def test_a_point_in_time_that_is_lost_is_taken_again(place: Place, wire: Wire) -> None:
    lost = orjson.dumps({"error": {"type": "search_context_missing_exception", "reason": "no"}, "status": 404})
    paths: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if b'"pit"' in body:
            paths.append(path)
            return Fault("response", 404, lost) if len(paths) == 1 else None
        return None

    wire.rule = rule
    assert place.load(items(3))["proof"]["agrees"] is True


def test_far_fewer_items_than_serve_are_refused_unless_it_is_meant(place: Place) -> None:
    old = place.load(items(20))["index"]
    report = place.load(items(9), code=1)
    assert "9 items where 20 serve" in report["error"]
    assert "--min-share" in report["error"]
    assert place.indices() == [old]
    assert place.load(items(9), "--min-share", "45")["swapped"] is True


def test_the_report_has_phases_rates_copies_and_the_reasons_of_rejects(place: Place) -> None:
    report = place.load([*items(98), {"id": 1000}, {"id": 1, "name": "again"}], "--max-rejects", "5")
    assert {"fill", "deletes", "settings", "claims", "warm-up", "proof", "swap"} <= set(report["phases"])
    assert report["rates"]["items"] > 0
    assert report["bytes"] > 98 * 100
    assert (report["retries"], report["superseded"]) == (0, 0)
    assert report["copies"]["allocated"] >= 1
    assert report["reasons"] == {"name: Field required": 1, "id: duplicate id, an earlier item has it": 1}
    shown = place.run("load", "-", "--platform", "730", stdin=orjson.dumps(items(60)))
    for word in ("items", "seconds", "expected", "found", "digest"):
        assert word in shown.stderr


def test_an_index_that_cannot_be_searched_does_not_serve(place: Place, wire: Wire) -> None:
    refusal = orjson.dumps({"error": {"type": "search_phase_execution_exception", "reason": "no"}, "status": 400})

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return Fault("response", 400, refusal) if b"redline" in body and "/_search" in path else None

    wire.rule = rule
    report = place.load(items(3), code=1)
    assert "search_phase_execution_exception" in report["error"]
    assert place.indices() == []
