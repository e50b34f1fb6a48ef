"""A range of prices in parts, of which the one in the middle is the same for many searches."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.engine.clauses import Clause
from api.search.facets.price_parts import price_parts
from mappings.histograms import price_edges
from mappings.money import MAX_PRICE, NO_PRICE

HIGHEST = int(MAX_PRICE) * 100
PRICES = st.one_of(
    st.integers(0, 20_000), st.sampled_from(price_edges(2)), st.integers(0, HIGHEST), st.just(NO_PRICE - 1)
)


def clause(low: int | None, high: int) -> Clause:
    return {"range": {"price.ascending": {**({} if low is None else {"gte": low}), "lte": high}}}


def spans(parts: list[Clause]) -> list[tuple[int, int]]:
    bounds = [part["range"]["price.ascending"] for part in parts]
    return [(each.get("gte", 0), each["lte"]) for each in bounds]


@given(st.none() | PRICES, PRICES)
def test_the_parts_have_each_price_of_the_range_once(low: int | None, high: int) -> None:
    parts = sorted(spans(price_parts(clause(low, high), 2)))
    assert (parts[0][0], parts[-1][1]) == (low or 0, high)
    assert all(before[1] + 1 == after[0] for before, after in pairwise(parts))


@pytest.mark.parametrize(
    ("low", "high", "parts"),
    [
        (None, 5000, [(0, 5000)]),
        (None, 6000, [(0, 5000), (5001, 6000)]),
        (0, 9999, [(0, 5000), (5001, 9500), (9501, 9999)]),
        (300, 6000, [(500, 5000), (300, 499), (5001, 6000)]),
        (7361, 26712, [(10_000, 20_000), (7500, 9999), (7361, 7499), (20_001, 25_000), (25_001, 26_712)]),
        (13_361, 26_712, [(14_000, 19_999), (13_361, 13_999), (20_000, 25_000), (25_001, 26_712)]),
        (2101, 4905, [(2250, 4750), (2101, 2249), (4751, 4905)]),
        (500, NO_PRICE - 1, [(500, NO_PRICE - 1)]),
        (501, NO_PRICE - 1, [(1000, NO_PRICE - 1), (550, 999), (501, 549)]),
        (HIGHEST, NO_PRICE - 1, [(HIGHEST, NO_PRICE - 1)]),
    ],
)
def test_the_part_between_edges_comes_first(low: int | None, high: int, parts: list[tuple[int, int]]) -> None:
    assert spans(price_parts(clause(low, high), 2)) == parts


@pytest.mark.parametrize(("low", "high"), [(None, 5000), (2250, 4750), (2010, 2190), (900, 100), (None, 0), (3, 3)])
def test_a_range_from_one_step_to_another_stays_whole(low: int | None, high: int) -> None:
    assert price_parts(clause(low, high), 2) == [clause(low, high)]
