"""From which price on so many of the most expensive items are found."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.background.tasks import BackgroundTasks
from api.errors import ApiError
from api.search.context import Index, PointInTime, SearchContext
from api.search.parsing.parse import parse_query
from api.search.price_desc import (
    REFRESH_SECONDS,
    RETRY_SECONDS,
    WIDENING_FACTOR,
    PriceHistogram,
    PriceHistograms,
    price_desc_page,
)
from api.search.query.request import Position, SearchQuery
from api.search.schemas.search import SearchBody
from mappings.money import MAX_MINOR, NO_PRICE
from tests.support.platforms import shared_platforms
from tests.support.search.engines import NoEngine

PLATFORMS = [platform for platform in shared_platforms() if platform.id == 730]
ALL = NO_PRICE - 1


def histogram_of(cents: list[int]) -> PriceHistogram:
    buckets = [price.bit_length() - 1 for price in cents]
    return PriceHistogram(tuple(buckets.count(bucket) for bucket in range(MAX_MINOR.bit_length())))


@given(
    cents=st.lists(st.integers(1, MAX_MINOR), max_size=200),
    items=st.integers(1, 300),
    more=st.integers(0, 300),
    ceiling=st.integers(-5, 2 * MAX_MINOR) | st.just(ALL),
)
def test_more_items_take_a_lower_bound_and_never_one_above_the_ceiling(
    cents: list[int], items: int, more: int, ceiling: int
) -> None:
    histogram = histogram_of(cents)
    near, far = histogram.lower_bound_for(items, ceiling), histogram.lower_bound_for(items + more, ceiling)
    assert near is None or 1 <= near <= ceiling + 1
    assert far is None or (near is not None and far <= near)
    if ceiling == ALL:
        assert (near is None) is (len(cents) < items)


@pytest.mark.parametrize(("items", "ceiling"), [(2_000, ALL), (50, 60_000), (2_000, 60_000), (30_000, 60_000)])
def test_about_so_many_items_are_above_the_bound(items: int, ceiling: int) -> None:
    cents = [100 + 3 * number for number in range(100_000)]
    bound = histogram_of(cents).lower_bound_for(items, ceiling)
    if ceiling == 60_000 and items == 30_000:
        assert bound is None, "20,000 cost no more"
        return
    assert bound is not None
    above = sum(bound <= price <= ceiling for price in cents)
    assert items / 2 < above < items * (2 if ceiling == 60_000 else WIDENING_FACTOR)


@pytest.mark.parametrize("ceiling", [3, ALL])
def test_a_bucket_that_holds_all_is_searched_once(ceiling: int) -> None:
    bounds = list(PriceHistogram((0, 10_000_000)).lower_bounds(20, ceiling))
    assert bounds == sorted(set(bounds), reverse=True)
    assert bounds


def context_of(**body: Any) -> SearchContext:
    checked = SearchBody.model_validate({"platform": 730, "sort": "price_desc", **body})
    query = SearchQuery(checked, parse_query(checked.query, PLATFORMS))
    return SearchContext(Index(NoEngine(), tuple(PLATFORMS)), query)


@pytest.mark.parametrize("body", [{"query": "ak redline ft"}, {"filters": {"seed": [1]}}, {"filters": {"ids": [1]}}])
async def test_a_selective_query_is_not_pruned_and_no_prices_are_counted(body: dict[str, Any]) -> None:
    async def ask(*_: Any) -> Any:
        raise AssertionError

    context, histograms = context_of(**body), PriceHistograms(ask, BackgroundTasks())
    assert await price_desc_page(context, histograms) is None
    pit = PointInTime(NoEngine(), "pit", shared=False, keep_seconds=1, products=())
    assert await price_desc_page(context.at(pit, Position()), histograms) is None


class Engine:
    """Counts 10,000 items in each bucket, or fails; records for which platforms it was asked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.platforms: list[list[int]] = []

    async def ask(self, platforms: Any, bodies: Any) -> list[Any]:
        self.platforms.append([platform.id for platform in platforms])
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return [{"hits": {"total": {"value": 10_000}}} for _ in bodies]


async def test_prices_are_counted_once_for_all_callers_though_one_goes_away() -> None:
    engine = Engine()
    histograms = PriceHistograms(engine.ask, BackgroundTasks())
    first = asyncio.create_task(histograms.of(PLATFORMS))
    others = [asyncio.create_task(histograms.of(PLATFORMS)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    counted = await asyncio.gather(*others)
    assert len(engine.platforms) == 1
    assert counted[0] == counted[1] == counted[2]
    bounds = list(counted[0].lower_bounds(20, ALL))
    assert bounds == sorted(set(bounds), reverse=True)
    assert len(bounds) == 2, "2,000 of the 470,000 items, 50,000, and no more than there are"


@pytest.mark.parametrize("error", [ApiError("search_unavailable"), KeyError("hits")])
async def test_an_error_leaves_no_histogram_or_the_old_one(error: Exception) -> None:
    engine = Engine()
    now, tasks = 1_000.0, BackgroundTasks()
    histograms = PriceHistograms(engine.ask, tasks, lambda: now)
    engine.error = error
    assert await histograms.of(PLATFORMS) == await histograms.of(PLATFORMS) == PriceHistogram(())
    assert len(engine.platforms) == 1
    engine.error = None
    now += RETRY_SECONDS
    assert await histograms.of(PLATFORMS) == PriceHistogram(())  # it is counted meanwhile
    await tasks.close()
    counted = await histograms.of(PLATFORMS)
    assert counted.counts
    engine.error = error
    now += REFRESH_SECONDS
    for _ in range(2):
        assert await histograms.of(PLATFORMS) == counted
        await tasks.close()
    assert len(engine.platforms) == 3


async def test_platforms_have_prices_of_their_own() -> None:
    engine = Engine()
    histograms = PriceHistograms(engine.ask, BackgroundTasks())
    await histograms.of(PLATFORMS)
    await histograms.of([*PLATFORMS, *PLATFORMS])
    assert engine.platforms == [[730], [730, 730]]


def test_no_bound_is_above_the_ceiling() -> None:
    bounds = list(PriceHistogram((10_000,) * 47).lower_bounds(20, 500))
    assert bounds
    assert max(bounds) <= 500
