"""Builds the aggregations of price and float histograms and reads their answers. Pure.

The edges never depend on the hits: bars keep their place while a buyer narrows a search, and one request is enough.
Prices go up in steps of 1, 2 and 5 times a power of ten, because they spread over eight decades; floats in hundredths,
where every wear band begins.
"""

from itertools import pairwise

from api.engine.answers import Json
from api.search.query.clauses import Clause
from mappings.fields import Filter, Kind
from mappings.money import MAX_PRICE, from_minor, to_minor

FLOAT_STEPS = 100
_EXTREMES = "_extremes"


def histogram_aggregations(row: Filter, minor_digits: int) -> Clause:
    """The aggregations for the histogram of a field: its ranges, and the lowest and the highest value."""
    edges = _edges(row, minor_digits)
    ranges: list[Clause] = [{"from": low, "to": high} for low, high in pairwise(edges[:-1])]
    # the highest value of all is inside: the last bucket ends with it
    ranges.append({"from": edges[-2]})
    return {
        row.name: {"range": {"field": row.field, "ranges": ranges}},
        row.name + _EXTREMES: {"stats": {"field": row.field}},
    }


def histogram(row: Filter, minor_digits: int, aggregations: Json) -> Json:
    """The histogram in an answer: from the first to the last bucket with items."""
    counts = [bucket["doc_count"] for bucket in aggregations[row.name]["buckets"]]
    occupied = [place for place, count in enumerate(counts) if count]
    if not occupied:
        return {"min": None, "max": None, "buckets": []}
    edges = [_main_unit(row, edge, minor_digits) for edge in _edges(row, minor_digits)]
    extremes = aggregations[row.name + _EXTREMES]
    return {
        "min": _main_unit(row, extremes["min"], minor_digits),
        "max": _main_unit(row, extremes["max"], minor_digits),
        "buckets": [
            {"from": edges[place], "to": edges[place + 1], "count": counts[place]}
            for place in range(occupied[0], occupied[-1] + 1)
        ],
    }


def _edges(row: Filter, minor_digits: int) -> list[float]:
    """All edges as the index stores the values: minor units of prices, floats as they are."""
    if row.kind is not Kind.MONEY:
        return [step / FLOAT_STEPS for step in range(FLOAT_STEPS + 1)]
    highest = to_minor(MAX_PRICE, minor_digits)
    digits = len(str(highest)) - 1
    ladder = (step * 10**power for power in range(digits) for step in (1, 2, 5))
    return [0, *ladder, highest]


def _main_unit(row: Filter, value: float, minor_digits: int) -> float:
    """A value as requests and answers write it: prices in the main unit."""
    return float(from_minor(int(value), minor_digits)) if row.kind is Kind.MONEY else value
