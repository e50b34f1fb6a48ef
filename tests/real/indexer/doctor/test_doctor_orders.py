"""The doctor on the orders and the index: what they disagree on is found both ways, told to the index, and no more."""

import pytest

import indexer.orders.agreement
import indexer.orders.claims
from indexer.orders.agreement import Agreement
from indexer.orders.database import OrdersDatabase
from tests.support.indexer.examined import codes, documents, findings, mark_items, repaired, snapshot, stays
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.shop import Shop


def test_every_page_of_both_sides_is_compared(place: Place, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (indexer.orders.agreement, indexer.orders.claims):
        monkeypatch.setattr(module, "PAGE_ITEMS", 3)
    shop.sell(*range(1, 8))
    index = place.load(items(20))["index"]
    shop.publish()
    shop.age()
    mark_items(place, 1, 2, 4, 7, bound=False)
    mark_items(place, *range(11, 20), bound=True)
    with OrdersDatabase(place.environment["GEAR_DATABASE_URL"]) as database:
        disagreement = Agreement(place.client, database, 730, index, 10_000).compare()
    assert (disagreement.offered.items, disagreement.offered.first) == (4, [1, 2, 4, 7])
    assert (disagreement.hidden.items, disagreement.hidden.first) == (9, [11, 12, 13, 14, 15])


def test_sold_items_that_are_offered_are_hidden(place: Place, shop: Shop) -> None:
    shop.sell(1, 2, 3, 4, 5, 8, 99)  # 99 is not in the catalogue
    place.load(items(9))
    shop.publish()
    shop.age()
    healthy = snapshot(place)
    assert findings(place, code=0) == []
    mark_items(place, 1, 2, 4, 5, 8, bound=False)
    (finding,) = findings(place, code=1)
    assert "5 items that active orders hold" in finding["message"]
    assert ": 1, 2, 4, 5, 8" in finding["message"]
    repaired(place, "sold-but-offered", wanted=healthy)
    assert shop.publish() == {1: True, 2: True, 4: True, 5: True, 8: True}, "the API tells them again, and only them"


def test_hidden_items_without_an_order_stay_hidden_until_somebody_decides(place: Place, shop: Shop) -> None:
    """They look as after a restore of a database that has lost their orders."""
    place.load(items(9))
    mark_items(place, 1, 2, 3, 4, 7, 9, bound=True)
    finding = stays(place, "free-but-hidden", says="6 items that no active order holds")
    assert ": 1, 2, 3, 4, 7, …" in finding["message"]
    assert finding["remedy"] == "gear-api reconcile --platform 730"
    assert shop.publish() == {}


def test_both_at_once_with_large_ids(place: Place, shop: Shop) -> None:
    largest, least = 2**63 - 1, -(2**63)
    index = place.load([*items(4), {"id": largest, "name": "Last"}, {"id": least, "name": "First"}])["index"]
    shop.sell(2, largest)
    shop.publish()
    shop.age()
    mark_items(place, 3, least, bound=True)
    assert sorted(codes(findings(place, code=1))) == ["free-but-hidden", "sold-but-offered"]
    fixed = {finding["code"]: finding["fixed"] for finding in findings(place, "--fix", code=1)}
    assert fixed == {"sold-but-offered": True, "free-but-hidden": False}
    bound = {number for number, document in documents(place, index).items() if document["bound"]}
    assert bound == {"2", str(largest), "3", str(least)}


def test_an_order_on_its_way_to_the_index_is_no_disagreement(place: Place, shop: Shop) -> None:
    index = place.load(items(3))["index"]
    shop.sell(2)
    before = documents(place, index)
    assert findings(place, "--fix", code=0) == []
    assert documents(place, index) == before


def test_index_updates_that_nobody_publishes_are_an_error(place: Place, shop: Shop) -> None:
    place.load(items(3))
    shop.sell(2, 3)
    shop.age()
    by_code = {finding["code"]: finding for finding in findings(place, code=1)}
    assert set(by_code) == {"sold-but-offered", "index-sync-pending"}
    assert by_code["index-sync-pending"]["remedy"] == "gear-api serve"
    assert "2 items" in by_code["index-sync-pending"]["message"]
    left = {finding["code"]: finding["fixed"] for finding in findings(place, "--fix")}
    assert left["sold-but-offered"] is True
    assert place.client.get(index=place.alias, id="2")["_source"]["bound"] is True
    assert shop.publish() == {2: True, 3: True}
    assert findings(place, code=0) == []


def test_a_generation_that_serves_again_hides_what_is_sold(place: Place, shop: Shop) -> None:
    index = place.load(items(3))["index"]
    shop.sell(2)
    place.client.indices.delete_alias(index=index, name=place.alias)
    listed = findings(place, "--fix", code=0)
    assert "alias-missing" in codes(listed)
    assert documents(place, index)["2"]["bound"] is True
