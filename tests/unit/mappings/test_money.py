"""Money is exact: what the arithmetic of decimals gives is what fractions give, at any number of decimals."""

import json
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mappings.money import MAX_PRICE, ceil_minor, floor_minor, from_minor, json_number, to_minor

AMOUNTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-MAX_PRICE, max_value=MAX_PRICE)
DIGITS = st.integers(0, 2)


@given(AMOUNTS, DIGITS)
def test_bounds_are_the_ceiling_and_the_floor_of_the_exact_minor_units(amount: Decimal, digits: int) -> None:
    exact = Fraction(amount) * 10**digits
    assert ceil_minor(amount, digits) == ceil(exact)
    assert floor_minor(amount, digits) == floor(exact)


@given(st.integers(0, 10**14), AMOUNTS, DIGITS)
def test_a_price_lies_within_bounds_in_minor_units_exactly_when_it_does_in_the_main_unit(
    minor: int, bound: Decimal, digits: int
) -> None:
    price = Fraction(minor, 10**digits)
    assert (minor >= ceil_minor(bound, digits)) == (price >= Fraction(bound))
    assert (minor <= floor_minor(bound, digits)) == (price <= Fraction(bound))


@given(st.integers(-(10**14), 10**14), DIGITS)
def test_there_and_back_is_the_same(minor: int, digits: int) -> None:
    amount = from_minor(minor, digits)
    assert to_minor(amount, digits) == minor
    assert amount.same_quantum(Decimal(1).scaleb(-digits))


@given(st.integers(0, 2 * int(MAX_PRICE) * 100))
def test_json_shows_every_amount_exactly(minor: int) -> None:
    written = orjson.dumps(json_number(minor, 2)).decode()
    assert json.loads(written, parse_float=Decimal) * 100 == minor


@given(AMOUNTS, DIGITS)
def test_amounts_with_more_decimals_than_the_currency_has_are_refused(amount: Decimal, digits: int) -> None:
    exact = Fraction(amount) * 10**digits
    if exact.denominator == 1:
        assert to_minor(amount, digits) == exact
    else:
        with pytest.raises(ValueError, match=f"more than {digits} decimals"):
            to_minor(amount, digits)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("0.29", 29, 29),
        ("1.1", 110, 110),
        ("1e-999999999999999999", 1, 0),
        ("0e-30", 0, 0),
        ("0." + "9" * 60_000, 100, 99),
        ("5." + "0" * 60_000 + "1", 501, 500),
        ("1e12", 10**14, 10**14),
    ],
)
def test_amounts_that_binary_numbers_get_wrong(text: str, low: int, high: int) -> None:
    assert (ceil_minor(Decimal(text), 2), floor_minor(Decimal(text), 2)) == (low, high)
