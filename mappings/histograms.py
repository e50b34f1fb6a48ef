"""The buckets of histograms, the same for every search. Pure.

The edges never depend on the hits: bars keep their place while a buyer narrows a search, and each item says in which
bucket it is, which the engine counts at half the cost of comparing values. Prices go up in steps of 1, 2 and 5 times a
power of ten, because they spread over eight decades; floats in hundredths, where every wear band begins.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from mappings.money import MAX_PRICE

FLOAT_STEPS = 100
NO_BUCKET = "-"
"""What an item has that lacks the value."""
FLOAT_EDGES: Sequence[float] = tuple(step / FLOAT_STEPS for step in range(FLOAT_STEPS + 1))


@cache
def price_edges(minor_digits: int) -> Sequence[int]:
    """The edges of prices in minor units."""
    highest = int(MAX_PRICE) * 10**minor_digits
    digits = len(str(highest)) - 1
    return (0, *(step * 10**power for power in range(digits) for step in (1, 2, 5)), highest)


def bucket_of(value: float | None, edges: Sequence[float]) -> str:
    """The place of a value's bucket, from 0, as the index has it; the highest value of all is in the last one."""
    return NO_BUCKET if value is None else str(min(bisect_right(edges, value), len(edges) - 1) - 1)
