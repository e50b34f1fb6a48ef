"""Every filter, sort and page of the search gives what a plain filter over the same items gives."""

from decimal import Decimal
from math import nextafter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.search import oracle
from tests.support.search.bodies import PLAIN, TEXTS, bodies
from tests.support.search.fixtures import SearchedItems


@settings(max_examples=examples(30, 300), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_search_answers_what_a_plain_filter_answers(searched_items: SearchedItems, data: Any) -> None:
    body = data.draw(bodies(searched_items.values))
    expected, total = oracle.response(searched_items.items, body)
    response = searched_items.ask(body)
    engine_requests = {"facets": oracle.facets(searched_items.items, body)} if body.get("facets") else {}
    assert response == {"status": "success", "gear": response["gear"], "total": total} | engine_requests
    gear = response["gear"]
    grouped = body.get("groupBy")
    for item in gear:
        assert item.pop("offers", None) == (
            oracle.offers(searched_items.items, body, item["name"]) if grouped else None
        )
    if expected is not None:
        assert [item["id"] for item in gear] == expected
    matching = oracle.hits_of(searched_items.items, body)
    hits = {item["id"]: item for item in (oracle.heads(matching) if grouped else matching)}
    for item in gear:
        loaded = hits[item["id"]]
        assert {key: item[key] for key in ("name", "price", "details", "paint")} == {
            key: loaded[key] for key in ("name", "price", "details", "paint")
        }


@settings(max_examples=examples(4, 16), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_count_of_a_facets_value_is_the_total_of_the_search_with_it(
    searched_items: SearchedItems, data: Any
) -> None:
    body = {**data.draw(bodies(searched_items.values)), "facets": list(oracle.LISTS)}
    facets = searched_items.ask(body)["facets"]
    for name in oracle.LISTS:
        other = oracle.without(body, name)
        for entry in facets[name]:
            with_it = {**other, "filters": {**other["filters"], name: [entry["value"]]}, **PLAIN}
            assert searched_items.search(with_it)[1] == entry["count"], (name, entry)


@settings(max_examples=examples(4, 16), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_count_of_a_bucket_is_the_total_of_the_search_within_it(searched_items: SearchedItems, data: Any) -> None:
    body = {**data.draw(bodies(searched_items.values)), "facets": ["price", "float"]}
    facets = searched_items.ask(body)["facets"]
    for name in ("price", "float"):
        other = oracle.without(body, name)
        for bucket in facets[name]["buckets"]:
            last = bucket is facets[name]["buckets"][-1]
            high = bucket["to"] if last else nextafter(bucket["to"], 0)
            inside = {"min": Decimal(repr(bucket["from"])), "max": Decimal(repr(high))}
            within = {**other, "filters": {**other["filters"], name: inside}, **PLAIN}
            assert searched_items.search(within)[1] == bucket["count"], (name, bucket)


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_finds_what_plain_reading_finds(text: str, searched_items: SearchedItems) -> None:
    body: dict[str, Any] = {"query": text, "sort": "price_asc", "limit": 100}
    expected, total = oracle.response(searched_items.items, body)
    gear, found_total = searched_items.search(body)
    assert ([item["id"] for item in gear], found_total) == (expected, total)


def test_pages_by_relevance_give_every_hit_once(searched_items: SearchedItems) -> None:
    body: dict[str, Any] = {"query": "asiimov", "limit": 7}
    _, total = oracle.response(searched_items.items, body)
    item_ids: list[int] = []
    for page in range(1, total // 7 + 2):
        gear, _ = searched_items.search({**body, "page": page})
        item_ids += [item["id"] for item in gear]
    assert len(item_ids) == len(set(item_ids)) == total > 14
