"""Prices, floats and seeds are read out of a text as buyers write them; every other number stays a word."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.search.parsing.combination import with_one_currency
from api.search.parsing.quantities import (
    Quantity,
    either_ranges,
    quantities_of,
    text_between,
    with_bare_seeds,
    with_inclusive_bounds,
)


def quantities_in(text: str) -> list[Quantity]:
    return quantities_of(
        text,
        is_name=lambda bare: bare == "5-7",
        is_measure=lambda rest: rest.split()[:1] == ["hours"],
        has_floats=lambda: True,
    )


def bounds(text: str) -> tuple[Any, ...]:
    (quantity,) = quantities_in(text)
    return quantity.field, *(None if end is None else float(end) for end in (quantity.low, quantity.high))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("ak redline under 50", None, 50),
        ("below 49.99", None, 49.99),
        ("<50", None, 50),
        ("<= 50", None, 50),
        ("redline<50", None, 50),
        ("max 50", None, 50),
        ("below or at 50", None, 50),
        ("at or under 50", None, 50),
        ("at or above 50", 50, None),
        ("up to 50", None, 50),
        ("less than 2k", None, 2000),
        ("cheaper than 1,000.50", None, 1000.5),
        ("over 20", 20, None),
        ("> 20", 20, None),
        ("at least 20", 20, None),
        ("20-50", 20, 50),
        ("20 – 50", 20, 50),
        ("50-20", 20, 50),
        ("20..50", 20, 50),
        ("from 20 to 50", 20, 50),
        ("between 20 and 50", 20, 50),
        ("price 20-50", 20, 50),
        ("50$", None, 50),
        ("ak redline 14.50", None, 14.5),
        ("ak redline 1234,50", None, 1234.5),
        ("$50", None, 50),
        ("50 €", None, 50),
        ("49,99€", None, 49.99),
        ("50 bucks", None, 50),
        ("under $0.50", None, 0.5),
        ("20$-50$", 20, 50),
        ("$20-50", 20, 50),
        ("20-50 usd", 20, 50),
        ("UNDER 50 USD.", None, 50),
        ("no more than 50", None, 50),
        ("not over 50", None, 50),
        ("=< 50", None, 50),
        ("max price 50", None, 50),
        ("max. 50", None, 50),
        ("budget of 50", None, 50),
        ("price: 50", None, 50),
        ("50 max", None, 50),
        ("50$ or less", None, 50),
        ("20+", 20, None),
        ("20〜", 20, None),
        ("50$ ～", 50, None),
        ("〜50", None, 50),
        ("150e", None, 150),
        ("20$+", 20, None),
        ("20 or more", 20, None),
        ("starting at 20", 20, None),
        ("between $20 and $50", 20, 50),
        ("50 pound", None, 50),
        ("1-2k", 1000, 2000),
        ("$1-2k", 1000, 2000),
        ("1-2k$", 1000, 2000),
        ("500-2k", 500, 2000),
        ("2k-3k", 2000, 3000),
        ("$1 - $2k", 1, 2000),
    ],
)
def test_prices(text: str, low: float | None, high: float | None) -> None:
    assert bounds(text) == ("price", low, high)


@pytest.mark.parametrize(
    ("text", "minor_digits", "low", "high"),
    [
        ("under 50", 2, None, "49.99"),
        ("< $50", 2, None, "49.99"),
        ("sub 50", 2, None, "49.99"),
        ("less than 50.5", 2, None, "50.49"),
        ("cheaper than 50.5", 0, None, "50"),
        ("below 50", 0, None, "49"),
        ("50 <max", 2, None, "49.99"),
        ("under 1 cent", 2, None, "0"),
        ("over 50", 2, "50.01", None),
        (">50", 0, "51", None),
        ("more than 50", 2, "50.01", None),
        ("above 50.5", 0, "51", None),
        ("50 >min", 2, "50.01", None),
        ("max 50", 2, None, "50"),
        ("no more than 50", 2, None, "50"),
        ("not under 50", 2, "50", None),
        ("<= 50", 2, None, "50"),
        ("at or under 50", 2, None, "50"),
        ("under or at 50", 2, None, "50"),
        ("50 or less", 2, None, "50"),
        ("$50", 2, None, "50"),
        ("50+", 2, "50", None),
        ("from 50", 2, "50", None),
        ("20-50", 2, "20", "50"),
    ],
)
def test_words_that_say_less_or_more_exclude_their_price(
    text: str, minor_digits: int, low: str | None, high: str | None
) -> None:
    (quantity,) = quantities_in(text)
    inclusive = with_inclusive_bounds(quantity, minor_digits)
    assert (inclusive.low, inclusive.high) == tuple(None if end is None else Decimal(end) for end in (low, high))
    assert not inclusive.is_strict


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("<= 0.07", None, 0.07),
        ("max 0.07", None, 0.07),
        ("0.15-0.2", 0.15, 0.2),
        ("float 0.15-0.2", 0.15, 0.2),
        ("怪物float0.15-0.2", 0.15, 0.2),
        ("float 0.2 to 0.15", 0.15, 0.2),
        ("0.15 - 0.2 fv", 0.15, 0.2),
        (">= 0.9", 0.9, None),
        ("float 1", 1, 1),
        ("float 0-0.1", 0, 0.1),
        ("float between 0.1 and 0.2", 0.1, 0.2),
        ("from 0.15 to 0.2", 0.15, 0.2),
        ("max float 0.02", None, 0.02),
        ("max .02", None, 0.02),
        ("0.45+", 0.45, None),
        ("0.06 or better", None, 0.06),
        ("float 0.01 and better", None, 0.01),
        ("0.9 or worse", 0.9, None),
        ("float <= ,07".replace(",", "."), None, 0.07),
    ],
)
def test_floats(text: str, low: float | None, high: float | None) -> None:
    assert bounds(text) == ("float", low, high)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("<0.07", [0.0, 0.06999999999999999], [0.07]),
        ("under 0.07", [0.0699], [0.07]),
        ("float < .07", [0.0699], [0.07]),
        ("float not over 0.07", [0.0699, 0.07], [0.0701]),
        ("float not above 0.07", [0.0699, 0.07], [0.0701]),
        (">0.9", [0.9000000000000001, 1.0], [0.9]),
        ("0.01", [0.01, 0.0125, 0.019999999999999], [0.02, 0.0099999]),
        ("0,01", [0.01, 0.0125], [0.02]),
        ("float 0.00", [0.0, 0.00999], [0.01]),
        ("0.00x", [0.0, 0.00999], [0.01]),
        ("fv:0.01xx", [0.01, 0.01999], [0.02]),
        ("0.010", [0.0105], [0.0111]),
        ("0.0123456789012345678901", [0.0123456789012345678901, 0.01234568], [0.0123, 0.0124]),
        ("float 0", [0.0, 0.5, 0.9999], [1.0]),
    ],
)
def test_floats_that_are_compared_strictly_or_cut_off(text: str, inside: list[float], outside: list[float]) -> None:
    _, low, high = bounds(text)
    assert all((low is None or low <= number) and (high is None or number <= high) for number in inside)
    assert not any((low is None or low <= number) and (high is None or number <= high) for number in outside)


@pytest.mark.parametrize(
    ("text", "field", "values"),
    [
        ("seed 661", "seed", (661,)),
        ("外殼硬化pattern661", "pattern", (661,)),
        ("seed661", "seed", (661,)),
        ("seed: 661, 670,#321", "seed", (661, 670, 321)),
        ("#661", "seed", (661,)),
        ("# 661", "seed", (661,)),
        ("pattern 387", "pattern", (387,)),
        ("paint seed 5", "seed", (5,)),
        ("661 seed", "seed", (661,)),
        ("seed 661/670 or 321", "seed", (661, 670, 321)),
    ],
)
def test_seeds(text: str, field: str, values: tuple[int, ...]) -> None:
    (quantity,) = quantities_in(text)
    assert (quantity.field, quantity.values) == (field, values)


@pytest.mark.parametrize(
    "text",
    [
        "ak-47",
        "p250",
        "katowice 2014",
        "5-7",
        "2014-2015",
        "ssg 08-10",
        "Elite 1.6",
        "Warhammer 40,000 Imperium",
        "3-2-1-GO!",
        "max 1v2 clutch",
        "donk 4K with One Taps",
        "bbno$, u mad!",
        "v$m",
        "under the lights",
        "seed",
        "float",
        "cz75-auto",
        "under 99999999999999",
        "50k",
        "12.05.2024",
        "99.50%",
        "1.6",
    ],
)
def test_other_numbers_are_words(text: str) -> None:
    assert quantities_in(text) == []


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("20-50", False),
        ("14.50", False),
        ("under 14.50", True),
        ("0.01", False),
        ("#661", False),
        ("0.1-0.2", False),
        ("20-50$", True),
        ("seed 661", True),
    ],
)
def test_a_bare_number_may_be_a_word_too(text: str, sure: bool) -> None:  # a table's column
    assert [quantity.certain for quantity in quantities_in(text)] == [sure]


def test_numbers_of_three_digits_that_stand_alone_may_be_seeds() -> None:
    def seeds(text: str) -> list[tuple[int, ...]]:
        quantities = with_bare_seeds(text, quantities_in(text), lambda typed: typed == "p250")
        return [quantity.values for quantity in quantities if quantity.field == "seed"]

    assert seeds("ak case hardened 661") == [(661,)]
    assert seeds("661淬火ak") == [(661,)]
    assert seeds("661 under 100 670") == [(661, 670), (661, 670)]  # either
    assert seeds("ak ch p69 p 387") == [(69, 387), (69, 387)]
    assert seeds("ak-47 p250 2014 m249 ak-661 57") == []


def test_a_currency_before_a_number_is_of_that_number() -> None:
    assert [(quantity.typed, quantity.field) for quantity in quantities_in("ak 0.15 $20")] == [
        ("0.15", "float"),
        ("$20", "price"),
    ]
    assert [(quantity.typed, quantity.field) for quantity in quantities_in("0.15 ¤RUB 5000")] == [
        ("0.15", "float"),
        ("¤RUB 5000", "price"),
    ]
    assert [(quantity.typed, quantity.field) for quantity in quantities_in("0.15 $")] == [("0.15 $", "price")]


def test_several_amounts_keep_their_order_and_their_places() -> None:
    text = "doppler 0.00-0.01 p2 under 2000€ seed 5"
    amounts = quantities_in(text)
    assert [(amount.typed, amount.field) for amount in amounts] == [
        ("0.00-0.01", "float"),
        ("under 2000€", "price"),
        ("seed 5", "seed"),
    ]
    assert [text[amount.start : amount.end] for amount in amounts] == [amount.typed for amount in amounts]
    assert [piece.strip() for piece in text_between(text, amounts)] == ["doppler", "p2", "", ""]
    assert amounts[1].currency == "EUR"


@given(st.text("0123456789.,-<>$€# undermax k", max_size=60))
def test_any_text_gives_amounts_within_it_and_apart(text: str) -> None:
    amounts = quantities_in(text)
    assert all(0 <= amount.start < amount.end <= len(text) for amount in amounts)
    assert all(amount.end <= other.start for amount, other in pairwise(amounts))
    for amount in amounts:
        assert amount.values or amount.low is not None or amount.high is not None
        assert amount.low is None or amount.high is None or Decimal(0) <= amount.low <= amount.high


@pytest.mark.parametrize(
    ("text", "count"),
    [("0.15-0.18 or 0.07-0.09", 2), ("0.15-0.25 0.2-0.3", 0), ("float > 0.2, float < 0.1", 0), ("0.15-0.2 under 5", 0)],
)
def test_ranges_that_share_nothing_are_any_of_them(text: str, count: int) -> None:
    assert len(either_ranges(quantities_in(text))) == count


@pytest.mark.parametrize("text", ["2014+", "holo 2015+"])
def test_a_year_and_later_is_no_price(text: str) -> None:
    assert quantities_in(text) == []


def test_below_the_least_float_is_below_0() -> None:
    field, low, high = bounds("float < 0")
    assert (field, low) == ("float", None)
    assert high < 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("doesn't cost over 80", (None, 80)),
        ("don't want to spend more than 80", (None, 80)),
        ("can't be under 80", (80, None)),
        ("under60$", (None, 60)),
        ("200+ usd", (200, None)),
        ("1.200€", (None, 1200)),
        ("under 1.200,50 €", (None, 1200.5)),
        ("50 at most", (None, 50)),
        ("20$ & 50$", (20, 50)),
        ("budget is 90", (None, 90)),
        ("20 < price < 50", (20, 50)),
        ("between 40 n 70", (40, 70)),
        ("around 4k", (3000, 5000)),
        ("about 100$", (75, 125)),
        ("100 about", (75, 125)),
        ("100 bucks about", (75, 125)),
        ("100 about max", (None, 100)),
        ("budget around 110", (None, 110)),
        ("around $1.50", (1.125, 1.875)),
        ("under 50 ¤RUBc", (None, 0.5)),
    ],
)
def test_prices_as_buyers_say_them(text: str, expected: tuple[float | None, float | None]) -> None:
    (quantity,) = quantities_in(text)
    assert tuple(None if end is None else float(end) for end in (quantity.low, quantity.high)) == expected


@pytest.mark.parametrize(
    ("text", "currencies"),
    [
        ("min 100, max 150 ¤RUB", ["RUB", "RUB"]),
        ("max 100, max 150 ¤RUB", [None, "RUB"]),
        ("min 100 usd, max 150 eur", ["USD", "EUR"]),
        ("min 20, max 50 eur, seed 661", ["EUR", "EUR", None]),
    ],
)
def test_bounds_of_one_price_are_in_one_currency(text: str, currencies: list[str | None]) -> None:
    assert [each.currency for each in with_one_currency(quantities_in(text))] == currencies


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50 cents to $2", (0.5, 2, "USD")),
        ("$1 - 50 cents", (0.5, 1, "USD")),
        ("50 cents to 2€", (0.5, 2, "EUR")),
        ("50-80 cents", (0.5, 0.8, None)),
        ("50 cents - 80", (0.5, 0.8, None)),
        ("50 cents to 2", (0.5, 2, None)),
        ("50 ¤RUBc - 2 ¤RUB", (0.5, 2, "RUB")),
    ],
)
def test_each_end_of_a_range_has_its_own_unit_or_that_of_the_other(
    text: str, expected: tuple[float, float, str | None]
) -> None:
    (quantity,) = quantities_in(text)
    assert quantity.low is not None
    assert quantity.high is not None
    assert (float(quantity.low), float(quantity.high), quantity.currency) == expected


def test_a_number_of_a_measure_is_no_price() -> None:
    assert quantities_in("500+ hours") == []
    assert [each.typed for each in quantities_in("500+ ak")] == ["500+"]
