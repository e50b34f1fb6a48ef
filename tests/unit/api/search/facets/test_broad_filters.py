"""Filters that match very many items are remembered without the price, and nothing else is."""

import json
from typing import Any

import pytest

from api.http.json_body import parse
from api.search.facets.price_parts import MANY_ITEMS, BroadFilters
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from tests.support.platforms import shared_platforms

PLATFORMS = list(shared_platforms())
FILTERS = {"exterior": ["Field-Tested"], "price": {"max": 60}}


def query_of(**body: Any) -> SearchQuery:
    checked = SearchBody.model_validate(parse(json.dumps(body).encode()))
    return SearchQuery(checked, parse_query(checked.query, PLATFORMS))


def test_filters_are_broad_once_a_search_has_found_very_many_items_whatever_the_price() -> None:
    broad = BroadFilters()
    assert not broad.has(query_of(filters=FILTERS))
    broad.add(query_of(filters=FILTERS), MANY_ITEMS)
    assert broad.has(query_of(filters={**FILTERS, "price": {"min": 3}}, sort="newest", page=2))
    assert not broad.has(query_of(filters={"price": {"max": 60}}))
    broad.add(query_of(filters={**FILTERS, "price": {"max": 1}}), 3)
    assert broad.has(query_of(filters=FILTERS)), "few items under a low price say nothing of a higher one"


def test_fewer_items_are_not_worth_several_requests() -> None:
    broad = BroadFilters()
    broad.add(query_of(filters=FILTERS), MANY_ITEMS - 1)
    assert not broad.has(query_of(filters=FILTERS))


@pytest.mark.parametrize(
    "body",
    [
        {"filters": {"exterior": ["Field-Tested"]}},
        {"filters": FILTERS, "query": "redline"},
        {"filters": FILTERS, "groupBy": "name"},
    ],
    ids=["no price", "a text", "groups"],
)
def test_what_is_not_counted_by_parts_is_not_remembered(body: dict[str, Any]) -> None:
    broad = BroadFilters()
    broad.add(query_of(**body), MANY_ITEMS)
    assert not broad.has(query_of(**body))
    assert not broad.has(query_of(filters=FILTERS))
