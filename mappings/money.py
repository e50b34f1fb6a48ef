"""Converts money between decimals in the main unit and integers in minor units, never by binary arithmetic. Pure."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

# Prices go up to 10^12 in the main unit: with two decimals that is 15 digits, which a JSON double carries exactly.
MAX_PRICE = Decimal(10) ** 12

# The same in minor units, of which a currency has up to two decimals.
MAX_MINOR = int(MAX_PRICE) * 100

# The value of `price.ascending` of an item without a price: beyond all prices, so that it comes last.
NO_PRICE = 2**63 - 1

# A request body is at most 64 KiB, so no amount in it has more digits than this: nothing is ever rounded.
_EXACT = Context(prec=70_000, Emin=MIN_EMIN, Emax=MAX_EMAX)


def to_minor(amount: Decimal, digits: int) -> int:
    """Minor units of an amount with at most `digits` decimals; raises ValueError where it has more."""
    minor = floor_minor(amount, digits)
    if minor != ceil_minor(amount, digits):
        raise ValueError(f"has more than {digits} decimals")
    return minor


def from_minor(minor: int, digits: int) -> Decimal:
    """The amount in the main unit, with exactly `digits` decimals."""
    return Decimal(minor).scaleb(-digits, _EXACT)


def json_number(minor: int, digits: int) -> float:
    """The amount as a JSON number. The nearest double is written as the same decimal up to 15 digits, and the
    largest total, two times 10^12 with two decimals, has 15.
    """
    return float(from_minor(minor, digits))


def ceil_minor(amount: Decimal, digits: int) -> int:
    """The amount in minor units, rounded up; it is finite and has any number of decimals."""
    return int(amount.scaleb(digits, _EXACT).to_integral_value(ROUND_CEILING, _EXACT))


def floor_minor(amount: Decimal, digits: int) -> int:
    """The amount in minor units, rounded down; it is finite and has any number of decimals."""
    return int(amount.scaleb(digits, _EXACT).to_integral_value(ROUND_FLOOR, _EXACT))
