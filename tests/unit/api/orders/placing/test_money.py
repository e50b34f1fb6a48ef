"""Amounts: what a buyer pays is exact to the cent."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.orders.placing.money import Amounts, amounts_of
from mappings.money import MAX_PRICE

PRICES = st.integers(0, int(MAX_PRICE) * 100)
RATES = st.decimals(0, 1, allow_nan=False, places=6)


@pytest.mark.parametrize(
    ("price", "rate", "excluded", "included"),
    [
        (2140, "0", Amounts(2140, 0, 2140), Amounts(2140, 0, 2140)),
        (2140, "0.05", Amounts(2140, 107, 2247), Amounts(2140, 107, 2140)),
        (10, "0.05", Amounts(10, 1, 11), Amounts(10, 1, 10)),  # 0.5 cents are one
        (9, "0.05", Amounts(9, 0, 9), Amounts(9, 0, 9)),  # 0.45 cents are none
        (0, "0.05", Amounts(0, 0, 0), Amounts(0, 0, 0)),
        (100, "1", Amounts(100, 100, 200), Amounts(100, 100, 100)),
        (100, "0.025", Amounts(100, 3, 103), Amounts(100, 3, 100)),
    ],
)
def test_the_fee_is_a_share_of_the_price_whoever_bears_it(
    price: int, rate: str, excluded: Amounts, included: Amounts
) -> None:
    assert amounts_of(price, Decimal(rate), "excluded") == excluded
    assert amounts_of(price, Decimal(rate), "included") == included


@given(PRICES, RATES)
def test_half_a_minor_unit_is_rounded_up(price: int, rate: Decimal) -> None:
    fee = int((Decimal(price) * rate).quantize(Decimal(1), ROUND_HALF_UP))
    assert amounts_of(price, rate, "excluded") == Amounts(price, fee, price + fee)
    assert amounts_of(price, rate, "included") == Amounts(price, fee, price)
