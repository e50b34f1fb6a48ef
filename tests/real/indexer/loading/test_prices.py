"""An index with other prices does not serve by accident: a wrong unit or currency stops a load and a rollback."""

from typing import Any

from tests.support.indexer.fixtures import Place, items


def priced(factor: float, count: int = 20, changed: int | None = None) -> list[dict[str, Any]]:
    """Items of which the first `changed` (all where left out) cost so many times as much."""
    changed = count if changed is None else changed
    return [
        {**item, "price": round(item["price"] * (factor if item["id"] <= changed else 1), 2)} for item in items(count)
    ]


def test_a_catalogue_in_minor_units_leaves_the_old_index(place: Place) -> None:
    old = place.load(items(20))
    assert old["prices"] == {"compared": 0, "changed": 0}
    report = place.load(priced(100), code=1)
    assert (report["swapped"], report["prices"]) == (False, {"compared": 20, "changed": 20})
    assert "20 of 20 compared items would cost less than half or more than double" in report["error"]
    assert "--max-price-change" in report["error"]
    assert place.indices() == [old["index"]]


def test_where_it_is_meant_the_prices_are_swapped_in(place: Place) -> None:
    place.put(items(20))
    assert place.load(priced(100), "--max-price-change", "100")["swapped"] is True
    assert place.client.get(index=place.alias, id="20")["_source"]["price"] == 2000


def test_a_share_of_changed_prices_is_allowed(place: Place) -> None:
    place.put(items(20))
    report = place.load(priced(3, changed=10))
    assert (report["swapped"], report["prices"]) == (True, {"compared": 20, "changed": 10})
    refused = place.load(priced(9, changed=4), "--max-price-change", "10", code=1)
    assert "more than 10 %" in refused["error"]


def test_a_lost_column_of_prices_leaves_the_old_index(place: Place) -> None:
    place.put(items(20))
    report = place.load([{**item, "price": None} for item in items(20)], code=1)
    assert report["prices"] == {"compared": 20, "changed": 20}


def test_where_two_generations_serve_the_newest_is_compared(place: Place) -> None:
    place.put(items(20))
    place.client.indices.create(index=f"{place.alias}-20200101000000000-00000000", body={"aliases": {place.alias: {}}})
    assert place.load(priced(100), code=1)["prices"] == {"compared": 20, "changed": 20}


def test_new_items_alone_are_no_sign_of_anything(place: Place) -> None:
    place.put(items(20))
    report = place.load([*priced(100, count=9), *items(20, first=100)])
    assert (report["swapped"], report["prices"]) == (True, {"compared": 9, "changed": 9})


def test_a_dry_run_says_it_too(place: Place) -> None:
    place.put(items(20))
    report = place.load(priced(100), "--dry-run", code=1)
    assert (report["wouldSwap"], report["prices"]) == (False, {"compared": 20, "changed": 20})
    assert "--max-price-change" in report["refusals"][0]


def test_a_rollback_to_other_prices_is_refused_unless_it_is_meant(place: Place) -> None:
    first = place.load(items(20))["index"]
    second = place.load(priced(100), "--max-price-change", "100")["index"]
    for options in ((), ("--dry-run",)):
        refused = place.json("rollback", "--platform", "730", *options, code=1)
        assert refused["changes"]["prices"] == {"compared": 20, "changed": 20}
        assert "--max-price-change" in refused["error"]
        assert place.json("status", "--platform", "730")["serving"] == second
    back = place.json("rollback", "--platform", "730", "--max-price-change", "100")
    assert back["index"] == first
