"""The fee and the total of an order, in minor units. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

FeeMode = Literal["excluded", "included"]


@dataclass(frozen=True)
class Amounts:
    """Minor units of one currency."""

    price: int
    fee: int
    total: int


def amounts_of(price: int, rate: Decimal, mode: FeeMode) -> Amounts:
    """The amounts of an order for an item of this price.

    The fee is `price x rate` in both modes, because the rate is a share of the price that searches show: the mode
    says who bears the fee, not how large it is. `excluded`: the buyer pays it on top (total = price + fee).
    `included`: it is taken out of the price (total = price). Half a minor unit is rounded up, on exact integers.
    """
    numerator, denominator = rate.as_integer_ratio()
    fee = (2 * price * numerator + denominator) // (2 * denominator)
    return Amounts(price, fee, price + fee if mode == "excluded" else price)
