"""The fee and the total of an order, in minor units. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from mappings.money import from_minor

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


def json_number(minor: int, digits: int) -> float:
    """The amount as a JSON number. The nearest double is written as the same decimal up to 15 digits, and the
    largest total, two times 10^12 with two decimals, has 15.
    """
    return float(from_minor(minor, digits))
