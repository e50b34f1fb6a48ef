"""The independent peer gets the same searches, over items with the same content."""

from dataclasses import replace
from typing import Any

import pytest

from bench.peers.stac import Names, document_of, query_of, settings
from bench.workloads.bodies import bodies_of, workloads

ITEM: dict[str, Any] = {
    "id": 7,
    "name": "AK-47 | Redline (Field-Tested)",
    "price": 30.5,
    "image": "https://images.example.com/7.png",
    "inspectLink": None,
    "description": None,
    "details": {"type": "Rifle", "weapon": "AK-47", "exterior": "Field-Tested", "phase": None},
    "paint": {"float": 0.2, "seed": 5, "index": None, "pattern": None},
    "attachments": [{"id": 1, "name": "Sticker | Titan", "wear": None, "type": "Sticker", "image": None}],
    "listedAt": "2026-05-14T04:01:27Z",
}


def test_a_listing_is_stored_as_an_item_with_what_it_says_in_properties() -> None:
    stored = document_of(ITEM)
    assert (stored["id"], stored["collection"], stored["geometry"], stored["links"]) == ("7", "gear", None, [])
    properties = stored["properties"]
    assert (properties.pop("created"), properties.pop("updated")) == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
    assert properties == {
        "datetime": ITEM["listedAt"],
        "gear:name": "AK-47 | Redline (Field-Tested)",
        "gear:price": 30.5,
        "gear:type": "Rifle",
        "gear:weapon": "AK-47",
        "gear:exterior": "Field-Tested",
        "gear:paint_float": 0.2,
        "gear:paint_seed": 5,
        "gear:attachments": ITEM["attachments"],
    }
    assert stored["assets"]["thumbnail"]["href"] == ITEM["image"]


def test_a_search_has_the_same_filters_and_sort() -> None:
    body = {"filters": {"price": {"min": 1, "max": 5}, "exterior": ["A", "B"]}, "sort": "price_asc", "limit": 20}
    query = query_of(body)
    assert query["filter"] == {
        "op": "and",
        "args": [
            {"op": ">=", "args": [{"property": "gear:price"}, 1]},
            {"op": "<=", "args": [{"property": "gear:price"}, 5]},
            {"op": "in", "args": [{"property": "gear:exterior"}, ["A", "B"]]},
        ],
    }
    assert query["sortby"][0] == {"field": "properties.gear:price", "direction": "asc"}
    assert (query["limit"], query["collections"]) == (20, ["gear"])


@pytest.mark.parametrize("name", ["cold", "hot"])
def test_each_body_of_its_workloads_can_be_translated(name: str) -> None:
    for body in bodies_of(replace(workloads()[name], bodies=200), 1):
        assert len(query_of(body)["filter"]["args"]) == len(body["filters"]) + ("min" in body["filters"]["price"])


@pytest.mark.parametrize("more", [{"query": "ak"}, {"sort": "newest"}, {"filters": {"seed": [1]}}])
def test_a_search_that_it_does_not_offer_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the peer does not offer"):
        query_of({"sort": "price_asc", **more})


def test_its_indices_are_its_own() -> None:
    read = settings("http://127.0.0.1:9299", Names("bench-stac-5"))
    assert read["STAC_COLLECTIONS_INDEX"] == "bench-stac-5-collections"
    assert Names("bench-stac-5").items == read["STAC_ITEMS_INDEX_PREFIX"] + "gear"
    assert (read["ES_HOST"], read["ES_PORT"]) == ("127.0.0.1", "9299")
