"""From which price on so many of the dearest items are found."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import ApiError
from api.search.dearest import WIDENED, Dearest, Prices
from api.search.query import Question
from api.search.schemas import SearchBody
from api.search.understand import understand
from mappings.money import MOST_MINOR, NO_PRICE
from mappings.platforms import read_platforms

PLATFORMS = [platform for platform in read_platforms() if platform.id == 730]
ALL = NO_PRICE - 1


def prices_of(cents: list[int]) -> Prices:
    lengths = [one.bit_length() - 1 for one in cents]
    return Prices(tuple(lengths.count(place) for place in range(MOST_MINOR.bit_length())))


def question(sort: str) -> Question:
    body = SearchBody.model_validate({"platform": 730, "sort": sort})
    return Question(body, understand("", PLATFORMS), 2)


@given(
    cents=st.lists(st.integers(1, MOST_MINOR), max_size=200),
    items=st.integers(1, 300),
    more=st.integers(0, 300),
    most=st.integers(-5, 2 * MOST_MINOR) | st.just(ALL),
)
def test_more_items_reach_further_and_never_beyond_the_most(cents: list[int], items: int, more: int, most: int) -> None:
    prices = prices_of(cents)
    near, far = prices.reached(items, most), prices.reached(items + more, most)
    assert near is None or 1 <= near <= most + 1
    assert far is None or (near is not None and far <= near)
    if most == ALL:
        assert (near is None) is (len(cents) < items)


@pytest.mark.parametrize(("items", "most"), [(2_000, ALL), (50, 60_000), (2_000, 60_000), (30_000, 60_000)])
def test_about_so_many_items_are_reached(items: int, most: int) -> None:
    cents = [100 + 3 * number for number in range(100_000)]
    least = prices_of(cents).reached(items, most)
    if most == 60_000 and items == 30_000:
        assert least is None, "20,000 cost no more"
        return
    assert least is not None
    reached = sum(least <= one <= most for one in cents)
    assert items / 2 < reached < items * (2 if most == 60_000 else WIDENED)


async def test_only_the_dearest_first_are_looked_for_from_a_price() -> None:
    async def ask(*_: Any) -> Any:
        raise AssertionError

    for sort in ("price_asc", "float_desc", "newest", "relevance"):
        assert list(await Dearest(ask).bounds(PLATFORMS, question(sort), needed=20)) == []


async def test_prices_are_asked_for_once_by_all_and_again_after_a_fault() -> None:
    asked = 0

    async def ask(_: Any, bodies: Any) -> list[Any]:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0)
        if asked == 1:
            raise ApiError("search_unavailable")
        return [{"hits": {"total": {"value": 10_000}}} for _ in bodies]

    dearest = Dearest(ask)
    failed = await asyncio.gather(
        *(dearest.bounds(PLATFORMS, question("price_desc"), needed=20) for _ in range(3)), return_exceptions=True
    )
    assert [type(one) for one in failed] == [ApiError] * 3
    found = await asyncio.gather(*(dearest.bounds(PLATFORMS, question("price_desc"), needed=20) for _ in range(3)))
    assert asked == 2
    bounds = [list(one) for one in found]
    assert bounds[0] == sorted(bounds[0], reverse=True) == bounds[1] == bounds[2]
    assert len(bounds[0]) == 2, "2,000 of the 470,000 items, 50,000, and no more than there are"
