"""The parts, batches and medians of a price list."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.groups import ALL_GROUPS, halves_of
from api.search.prices.requests import (
    Sizes,
    Spans,
    cheaper_request,
    median_batches,
    medians_of,
    medians_request,
    parts_of,
    spans_of,
    spans_request,
)

EVERYTHING: dict[str, Any] = {"match_all": {}}


def spans(name: str, priced: int, low: int | None = 1, high: int | None = 9) -> Spans:
    return Spans(name, priced, priced, low, high, None, None)


@given(st.integers(0, 10**9), st.integers(1, 10**6))
def test_parts_cover_every_group_once(items: int, part_items: int) -> None:
    sizes = Sizes(part_items=max(part_items, items // 1000 + 1))
    parts = parts_of(items, sizes)
    halves = [half for part in parts for half in halves_of(part)]
    for cover in (parts, halves):
        assert (cover[0][0], cover[-1][1]) == ALL_GROUPS
        assert all(before[1] + 1 == after[0] for before, after in pairwise(cover))


def test_a_full_answer_may_lack_names() -> None:
    bucket = {"key": "a", "doc_count": 2, "price": {"count": 1, "min": 5.0, "max": 5.0}, "float": {"count": 0}}
    response: Any = {"aggregations": {"names": {"buckets": [bucket]}}}
    assert spans_of(response, Sizes(max_names=1)) is None
    assert spans_of(response, Sizes()) == [Spans("a", 2, 1, 5, 5, None, None)]


def test_an_item_without_price_and_float_is_counted() -> None:
    bucket = {"key": "a", "doc_count": 1, "price": {"count": 0}, "float": {"count": 1, "min": 0.1, "max": 0.1}}
    response: Any = {"aggregations": {"names": {"buckets": [bucket]}}}
    (row,) = spans_of(response, Sizes()) or []
    assert row.row(row.median, 2) == {
        "name": "a",
        "count": 1,
        "priceMin": None,
        "priceMedian": None,
        "priceMax": None,
        "floatMin": 0.1,
        "floatMax": 0.1,
    }


@given(st.lists(st.integers(0, 400), max_size=60))
def test_a_batch_fits_into_one_answer_unless_it_is_one_name(priced: list[int]) -> None:
    sizes = Sizes(max_prices=100)
    names = [spans(str(place), count) for place, count in enumerate(priced)]
    batches = list(median_batches(names, sizes))
    assert sorted(each.name for batch in batches for each in batch) == sorted(
        each.name for each in names if each.priced > 2
    )
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(each.middle for each in batch) <= sizes.max_prices


@pytest.mark.parametrize(("low", "high", "median"), [(5, 5, 5), (5, 6, None)])
def test_a_name_of_one_price_needs_no_search(low: int, high: int, median: int | None) -> None:
    assert spans("a", 100, low, high).median == median


@given(st.lists(st.integers(0, 20), min_size=1, max_size=50))
def test_the_median_is_the_lower_of_the_two_in_the_middle(prices: list[int]) -> None:
    name = spans("a", len(prices), min(prices), max(prices))
    cheaper = sorted(set(prices))[: name.middle]
    buckets = [{"key": price, "doc_count": prices.count(price)} for price in cheaper]
    response: Any = {"aggregations": {"names": {"buckets": [{"key": "a", "prices": {"buckets": buckets}}]}}}
    assert medians_of(response, [name]) == {"a": sorted(prices)[(len(prices) - 1) // 2]}


def test_a_median_behind_the_prices_of_the_answer_is_not_known() -> None:
    buckets = [{"key": 1, "doc_count": 1}]
    response: Any = {"aggregations": {"names": {"buckets": [{"key": "a", "prices": {"buckets": buckets}}]}}}
    assert medians_of(response, [spans("a", 9)]) == {"a": None}


def test_requests_ask_for_the_part_and_the_names() -> None:
    spans_body = spans_request(EVERYTHING, (1, 2), Sizes(max_names=7))
    assert spans_body["query"]["bool"]["filter"] == [EVERYTHING, {"range": {"group": {"gte": 1, "lte": 2}}}]
    assert spans_body["aggregations"]["names"]["terms"] == {"field": "name", "size": 7}
    medians_body = medians_request(EVERYTHING, [spans("a", 3), spans("b", 9)], Sizes(max_prices=4))
    assert medians_body["query"]["bool"]["filter"] == [EVERYTHING, {"terms": {"name": ["a", "b"]}}]
    assert medians_body["aggregations"]["names"]["aggregations"]["prices"]["terms"]["size"] == 4
    cheaper = cheaper_request(EVERYTHING, "a", 5)
    assert cheaper["query"]["bool"]["filter"][1:] == [{"term": {"name": "a"}}, {"range": {"price": {"lte": 5}}}]
