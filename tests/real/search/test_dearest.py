"""The dearest first are looked for from a price on, and are the same as if all were looked through."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from api.search import price_desc
from api.search.price_desc import Dearest, Prices
from mappings.money import MOST_MINOR
from tests.support.search import oracle
from tests.support.search.bodies import bodies
from tests.support.search.fixtures import SearchedItems

EVERYTHING = {"platform": 730, "sort": "price_desc", "limit": 3}


@pytest.fixture(autouse=True)
def little_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guesses as for millions of items, where there are 400."""
    monkeypatch.setattr(price_desc, "REACH", 4)
    monkeypatch.setattr(price_desc, "WIDENED", 4)


def counts() -> st.SearchStrategy[Prices]:
    """Prices that are right for no index."""
    places = MOST_MINOR.bit_length()
    return st.lists(st.integers(0, 500), min_size=places, max_size=places).map(lambda held: Prices(tuple(held)))


@contextmanager
def guessing(guess: Prices | None) -> Iterator[None]:
    """Has the service take these for the items' prices."""

    async def guessed(*_: Any) -> Prices | None:
        return guess

    with pytest.MonkeyPatch.context() as patch:
        if guess is not None:
            patch.setattr(Dearest, "_prices", guessed)
        yield


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data(), limit=st.integers(1, 6), page=st.integers(1, 12), guess=st.none() | counts())
def test_a_page_of_the_dearest_is_what_a_plain_sort_gives(
    searched_items: SearchedItems, data: Any, limit: int, page: int, guess: Prices | None
) -> None:
    drawn = data.draw(bodies(searched_items.known))
    body = {**drawn, "sort": "price_desc", "groupBy": None, "facets": None, "limit": limit, "page": page}
    with guessing(guess):
        gear, total = searched_items.search(body)
    assert ([item["id"] for item in gear], total) == oracle.answer(searched_items.items, body)


@pytest.mark.parametrize("guess", [None, Prices((500,) * 47), Prices((0,) * 46 + (400,))], ids=["true", "low", "high"])
@pytest.mark.parametrize("filters", [{}, {"price": {"max": Decimal("19.99")}}, {"type": ["Knife"]}])
def test_a_walk_meets_all_from_the_dearest_to_what_has_no_price(
    searched_items: SearchedItems, filters: dict[str, Any], guess: Prices | None
) -> None:
    body = {"platform": 730, "sort": "price_desc", "filters": filters}
    expected = oracle.in_order(oracle.hits_of(searched_items.items, body), "price_desc")
    found: list[int] = []
    cursor: str | None = "*"
    with guessing(guess):
        while cursor is not None:
            page = searched_items.ask({**body, "limit": 7, "cursor": cursor})
            found += [item["id"] for item in page["gear"]]
            cursor = page["nextCursor"]
    assert found == [item["id"] for item in expected]


def test_once_the_prices_are_known_a_page_is_one_request(
    searched_items: SearchedItems, asked: list[dict[str, Any]]
) -> None:
    searched_items.ask(EVERYTHING)
    asked.clear()
    searched_items.ask({**EVERYTHING, "limit": 4})
    (sent,) = asked
    page = json.loads(sent["body"].splitlines()[1])
    least = page["query"]["bool"]["filter"][-1]["range"]["price.ascending"]["gte"]
    dearer = sum(item["price"] is not None and item["price"] * 100 >= least for item in searched_items.items)
    assert 4 <= dearer < len(searched_items.items) / 4


def test_what_filters_leave_little_of_is_looked_for_once_more_and_no_oftener(
    searched_items: SearchedItems, asked: list[dict[str, Any]]
) -> None:
    searched_items.ask(EVERYTHING)
    asked.clear()
    body = {**EVERYTHING, "limit": 20, "filters": {"type": ["Tool"], "price": {"max": 5}}}
    gear, total = searched_items.search(body)
    assert 0 < len(gear) == total < 20
    assert len(asked) == 2


@pytest.mark.parametrize("more", [{"query": "ak redline ft"}, {"filters": {"seed": [1, 2]}}], ids=["words", "seed"])
def test_what_tells_that_it_is_rare_is_asked_for_as_it_is(
    searched_items: SearchedItems, asked: list[dict[str, Any]], more: dict[str, Any]
) -> None:
    searched_items.ask({**EVERYTHING, "limit": 23, **more})
    assert "price.ascending" not in json.dumps([str(one["body"]) for one in asked])
