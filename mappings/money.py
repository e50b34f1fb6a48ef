"""Money: decimals in the currency's main unit in, integer minor units out, and back; never binary arithmetic."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal

# Prices go up to 10^12 in the main unit: with two decimals that is 15 digits, which a JSON double carries exactly.
MOST_PRICE = Decimal(10) ** 12

# The same in minor units, of which a currency has up to two decimals.
MOST_MINOR = int(MOST_PRICE) * 100

# What `price.ascending` has of an item without a price: beyond all prices, so that it comes last.
NO_PRICE = 2**63 - 1

# A request body is at most 64 KiB, so no amount in it has more digits than this: nothing is ever rounded.
_EXACT = Context(prec=70_000, Emin=MIN_EMIN, Emax=MAX_EMAX)


def to_minor(amount: Decimal, digits: int) -> int:
    """Minor units of an amount with at most `digits` decimals; raises ValueError where it has more."""
    minor = at_most(amount, digits)
    if minor != at_least(amount, digits):
        message = f"has more than {digits} decimals"
        raise ValueError(message)
    return minor


def from_minor(minor: int, digits: int) -> Decimal:
    """The amount in the main unit, with exactly `digits` decimals."""
    return Decimal(minor).scaleb(-digits, _EXACT)


def at_least(amount: Decimal, digits: int) -> int:
    """The smallest number of minor units that is not less than `amount`: finite, any number of decimals."""
    return int(amount.scaleb(digits, _EXACT).to_integral_value(ROUND_CEILING, _EXACT))


def at_most(amount: Decimal, digits: int) -> int:
    """The largest number of minor units that is not more than `amount`: finite, any number of decimals."""
    return int(amount.scaleb(digits, _EXACT).to_integral_value(ROUND_FLOOR, _EXACT))
