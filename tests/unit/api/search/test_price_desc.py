"""From which price on so many of the dearest items are found."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import ApiError
from api.search.parsing.parse import understand
from api.search.price_desc import KEEP_SECONDS, RETRY_SECONDS, WIDENED, Dearest, Prices, _bounds
from api.search.query.request import Question
from api.search.schemas.search import SearchBody
from mappings.money import MOST_MINOR, NO_PRICE
from mappings.platforms import read_platforms

PLATFORMS = [platform for platform in read_platforms() if platform.id == 730]
ALL = NO_PRICE - 1


def prices_of(cents: list[int]) -> Prices:
    lengths = [one.bit_length() - 1 for one in cents]
    return Prices(tuple(lengths.count(place) for place in range(MOST_MINOR.bit_length())))


def question(sort: str, **filters: Any) -> Question:
    body = SearchBody.model_validate({"platform": 730, "sort": sort, "filters": filters})
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


class Asked:
    """Answers counts of 10,000 each, or fails; notes for which platforms it was asked."""

    def __init__(self) -> None:
        self.fails = False
        self.platforms: list[list[int]] = []

    async def __call__(self, platforms: Any, bodies: Any) -> list[Any]:
        self.platforms.append([platform.id for platform in platforms])
        await asyncio.sleep(0)
        if self.fails:
            raise ApiError("search_unavailable")
        return [{"hits": {"total": {"value": 10_000}}} for _ in bodies]


async def found(dearest: Dearest, *, most: int | None = None, **filters: Any) -> list[int]:
    return list(await dearest.bounds(PLATFORMS, question("price_desc", **filters), needed=20, most=most))


async def test_prices_are_asked_for_once_by_all_who_want_to_know_though_one_goes_away() -> None:
    asked = Asked()
    dearest = Dearest(asked)
    first = asyncio.create_task(found(dearest))
    others = [asyncio.create_task(found(dearest)) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    bounds = await asyncio.gather(*others)
    assert len(asked.platforms) == 1
    assert bounds[0] == sorted(set(bounds[0]), reverse=True) == bounds[1] == bounds[2]
    assert len(bounds[0]) == 2, "2,000 of the 470,000 items, 50,000, and no more than there are"


async def test_a_fault_leaves_a_search_without_a_guess_or_with_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    dearest = Dearest(asked)
    now = 1_000.0
    monkeypatch.setattr("api.search.price_desc.monotonic", lambda: now)
    asked.fails = True
    assert await found(dearest) == await found(dearest) == []
    assert len(asked.platforms) == 1
    asked.fails = False
    now += RETRY_SECONDS
    assert await found(dearest) == []  # it is asked for meanwhile
    await asyncio.sleep(0.01)
    known = await found(dearest)
    assert known
    asked.fails = True
    now += KEEP_SECONDS
    for _ in range(2):
        assert await found(dearest) == known
        await asyncio.sleep(0.01)
    assert len(asked.platforms) == 3


async def test_platforms_have_prices_of_their_own() -> None:
    asked = Asked()
    dearest = Dearest(asked)
    await found(dearest)
    await dearest.bounds([*PLATFORMS, *PLATFORMS], question("price_desc"), needed=20)
    assert asked.platforms == [[730], [730, 730]]


async def test_nothing_is_looked_for_above_what_is_allowed_or_has_been_met() -> None:
    dearest = Dearest(Asked())
    allowed = await found(dearest, price={"max": 5})
    assert allowed
    assert max(allowed) <= 500
    met = await found(dearest, most=100, price={"max": 5})
    assert met
    assert max(met) <= 100


@pytest.mark.parametrize("most", [3, ALL])
def test_a_stretch_that_holds_all_is_asked_for_once(most: int) -> None:
    bounds = list(_bounds(Prices((0, 10_000_000)), 20, most))
    assert bounds == sorted(set(bounds), reverse=True)
    assert bounds
