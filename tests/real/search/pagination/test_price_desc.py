"""Pages of the highest prices are pruned, and are the same as if all items were looked through."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.search.price_desc import PriceHistogram, PriceHistograms
from mappings.money import MAX_MINOR
from tests.support.examples import examples
from tests.support.search import oracle
from tests.support.search.bodies import bodies
from tests.support.search.fixtures import SearchedItems

EVERYTHING = {"platform": 730, "sort": "price_desc", "limit": 3}


def histograms() -> st.SearchStrategy[PriceHistogram]:
    """Prices that are right for no index."""
    buckets = MAX_MINOR.bit_length()
    counts = st.lists(st.integers(0, 500), min_size=buckets, max_size=buckets)
    return counts.map(lambda each: PriceHistogram(tuple(each)))


@contextmanager
def histogram_of_millions(guess: PriceHistogram | None) -> Iterator[None]:
    """Has the service prune 400 items as if they were millions, by this histogram or the one that it counts itself."""
    counted = PriceHistograms.of

    async def histogram(self: PriceHistograms, platforms: Any) -> PriceHistogram:
        return replace(guess or await counted(self, platforms), initial_window=4, widening_factor=4)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PriceHistograms, "of", histogram)
        yield


@pytest.fixture(autouse=True)
def prunes_as_for_millions() -> Iterator[None]:
    """In every test."""
    with histogram_of_millions(None):
        yield


@settings(max_examples=examples(20, 80), suppress_health_check=list(HealthCheck))
@given(data=st.data(), limit=st.integers(1, 6), page=st.integers(1, 12), guess=st.none() | histograms())
def test_a_pruned_page_is_what_a_plain_sort_gives(
    searched_items: SearchedItems, data: Any, limit: int, page: int, guess: PriceHistogram | None
) -> None:
    drawn = data.draw(bodies(searched_items.values))
    body = {**drawn, "sort": "price_desc", "groupBy": None, "facets": None, "limit": limit, "page": page}
    with histogram_of_millions(guess):
        gear, total = searched_items.search(body)
    assert ([item["id"] for item in gear], total) == oracle.response(searched_items.items, body)


@pytest.mark.parametrize(
    "guess", [None, PriceHistogram((500,) * 47), PriceHistogram((0,) * 46 + (400,))], ids=["true", "low", "high"]
)
@pytest.mark.parametrize("filters", [{}, {"price": {"max": Decimal("19.99")}}, {"type": ["Knife"]}])
def test_a_cursor_gives_all_from_the_highest_price_to_items_without_one(
    searched_items: SearchedItems, filters: dict[str, Any], guess: PriceHistogram | None
) -> None:
    body = {"platform": 730, "sort": "price_desc", "filters": filters}
    expected = oracle.in_order(oracle.hits_of(searched_items.items, body), "price_desc")
    item_ids: list[int] = []
    cursor: str | None = "*"
    with histogram_of_millions(guess):
        while cursor is not None:
            page = searched_items.ask({**body, "limit": 7, "cursor": cursor})
            item_ids += [item["id"] for item in page["gear"]]
            cursor = page["nextCursor"]
    assert item_ids == [item["id"] for item in expected]


def test_once_the_prices_are_known_a_page_is_one_request(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    searched_items.ask(EVERYTHING)
    engine_requests.clear()
    searched_items.ask({**EVERYTHING, "limit": 4})
    (sent,) = engine_requests
    page = json.loads(sent["body"].splitlines()[1])
    least = page["query"]["bool"]["filter"][-1]["range"]["price.ascending"]["gte"]
    dearer = sum(item["price"] is not None and item["price"] * 100 >= least for item in searched_items.items)
    assert 4 <= dearer < len(searched_items.items) / 4


def test_a_page_of_few_hits_takes_one_more_request_and_no_more(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    searched_items.ask(EVERYTHING)
    engine_requests.clear()
    body = {**EVERYTHING, "limit": 20, "filters": {"type": ["Tool"], "price": {"max": 5}}}
    gear, total = searched_items.search(body)
    assert 0 < len(gear) == total < 20
    assert len(engine_requests) == 2


@pytest.mark.parametrize("more", [{"query": "ak redline ft"}, {"filters": {"seed": [1, 2]}}], ids=["words", "seed"])
def test_a_selective_query_is_not_pruned(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    searched_items.ask({**EVERYTHING, "limit": 23, **more})
    assert "price.ascending" not in json.dumps([str(request["body"]) for request in engine_requests])
