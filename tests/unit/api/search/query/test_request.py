"""The engine's request for each kind of search, as golden files in tests/golden/queries."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from api.engine.clauses import price_range
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.fields import FILTERS, SORTS
from mappings.money import NO_PRICE
from tests.support.golden import GOLDEN, Golden
from tests.support.search.query_cases import CASES, PLATFORMS, query_of


@pytest.mark.parametrize("name", CASES)
def test_each_search_is_asked_as_in_its_golden_file(name: str, golden: Golden) -> None:
    query = query_of(CASES[name])
    requests = dict(zip(("request", "count"), query.hit_requests, strict=False))
    golden(f"queries/{name}", {"body": json.loads(CASES[name]), **requests})


def test_every_filter_and_sort_has_a_case_and_every_golden_file_is_used() -> None:
    assert {row.name for row in FILTERS} | {f"sort_{sort.name}" for sort in SORTS} <= set(CASES)
    assert {file.stem for file in Path(GOLDEN / "queries").glob("*.json")} == set(CASES)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, True),
        ({"query": "x"}, False),
        ({"query": "x", "sort": "price_desc"}, True),
        ({"query": "x", "filters": {"price": {"max": Decimal(5)}}}, True),
        ({"query": "x", "filters": {"price": {}}}, False),
        ({"sort": "float_asc"}, False),
        ({"sort": "float_asc", "facets": ["float"]}, False),
        ({"sort": "float_asc", "groupBy": "name"}, True),
        ({"sort": "float_asc", "facets": ["float", "price"]}, True),
        ({"sort": "relevance"}, True),
    ],
)
def test_an_answer_depends_on_prices_by_filter_by_facet_by_group_or_by_sort(
    body: dict[str, Any], expected: bool
) -> None:  # a table's column
    checked = SearchBody.model_validate(body)
    query = SearchQuery(checked, parse_query(checked.query, PLATFORMS))
    assert query.compares_prices is expected


def test_each_of_several_finishes_gives_as_much() -> None:
    (finishes,) = [
        part["constant_score"]["filter"]["terms"]["finish.folded"]
        for part in query_of(json.dumps({"query": "ak redline/vulcan/ch"})).offered["bool"]["should"]
        if "finish.folded" in str(part)
    ]
    assert finishes == ["case hardened", "redline", "vulcan"]


@pytest.mark.parametrize(
    ("page", "hits", "total", "is_page"),
    [(1, 20, 30, True), (2, 10, 30, True), (3, 0, 30, True), (1, 19, 30, False), (2, 20, 30, False)],
)
def test_a_page_has_the_hits_that_its_total_leaves_for_it(page: int, hits: int, total: int, is_page: bool) -> None:
    assert query_of(json.dumps({"page": page})).is_page(hits, total) is is_page


@pytest.mark.parametrize(
    ("low", "high", "bounds"),
    [
        (None, None, {"lte": NO_PRICE - 1}),
        ("5.001", "6.009", {"gte": 501, "lte": 600}),
        (None, "1e23", {"lte": NO_PRICE - 1}),
        ("92233720368547758.06", None, {"gte": NO_PRICE - 1, "lte": NO_PRICE - 1}),
        ("92233720368547758.07", None, {"gte": NO_PRICE, "lte": NO_PRICE - 1}),
        ("1e23", "1e24", {"gte": NO_PRICE, "lte": NO_PRICE - 1}),
    ],
)
def test_bounds_of_prices_are_64_bit_integers_and_no_price_is_beyond_all(
    low: str | None, high: str | None, bounds: dict[str, int]
) -> None:
    least, most = (None if end is None else Decimal(end) for end in (low, high))
    assert price_range(least, most, 2) == {"range": {"price.ascending": bounds}}
