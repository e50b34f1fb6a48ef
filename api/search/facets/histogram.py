"""Histograms of prices and floats: the engine's ranges in, the occupied buckets of a fixed ladder out. Pure.

The edges never depend on what is found: bars keep their place while a buyer narrows a search, and one question to the
engine is enough. Prices go up in steps of 1, 2 and 5 times a power of ten, because they spread over eight decades;
floats in hundredths, where every wear band begins.
"""

from itertools import pairwise
from typing import Any

from mappings.fields import Filter, Kind
from mappings.money import MOST_PRICE, from_minor, to_minor

Clause = dict[str, Any]

FLOAT_STEPS = 100
_EXTREMES = "_extremes"


def aggregations(row: Filter, minor_digits: int) -> Clause:
    """The engine's aggregations for the histogram of a field: its ranges, and the least and the largest value."""
    edges = _edges(row, minor_digits)
    ranges: list[Clause] = [{"from": low, "to": high} for low, high in pairwise(edges[:-1])]
    # the largest value of all is inside: the last bucket ends with it
    ranges.append({"from": edges[-2]})
    return {
        row.name: {"range": {"field": row.field, "ranges": ranges}},
        row.name + _EXTREMES: {"stats": {"field": row.field}},
    }


def histogram(row: Filter, minor_digits: int, found: dict[str, Any]) -> dict[str, Any]:
    """The contract's histogram of the aggregations' answers: from the first to the last bucket with items."""
    counts = [bucket["doc_count"] for bucket in found[row.name]["buckets"]]
    occupied = [place for place, count in enumerate(counts) if count]
    if not occupied:
        return {"min": None, "max": None, "buckets": []}
    edges = [_shown(row, edge, minor_digits) for edge in _edges(row, minor_digits)]
    extremes = found[row.name + _EXTREMES]
    return {
        "min": _shown(row, extremes["min"], minor_digits),
        "max": _shown(row, extremes["max"], minor_digits),
        "buckets": [
            {"from": edges[place], "to": edges[place + 1], "count": counts[place]}
            for place in range(occupied[0], occupied[-1] + 1)
        ],
    }


def _edges(row: Filter, minor_digits: int) -> list[float]:
    """All edges as the index holds the values: minor units of prices, floats as they are."""
    if row.kind is not Kind.MONEY:
        return [step / FLOAT_STEPS for step in range(FLOAT_STEPS + 1)]
    most = to_minor(MOST_PRICE, minor_digits)
    digits = len(str(most)) - 1
    ladder = (step * 10**power for power in range(digits) for step in (1, 2, 5))
    return [0, *ladder, most]


def _shown(row: Filter, value: float, minor_digits: int) -> float:
    """A value as requests and answers write it: prices in the main unit."""
    return float(from_minor(int(value), minor_digits)) if row.kind is Kind.MONEY else value
