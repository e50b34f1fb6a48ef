"""Splits a range of prices where histograms have their edges. Pure.

Buyers move the bounds of a price and leave the rest of a search as it is. What lies between two edges is the same for
all these searches, so the engine has counted it before, and only what is left at both ends is counted anew. Amounts
that buyers write are edges more often than not: then nothing is left.
"""

from bisect import bisect_left, bisect_right

from api.search.query.clauses import Clause
from mappings.histograms import price_edges
from mappings.money import NO_PRICE


def price_parts(price: Clause, minor_digits: int) -> list[Clause]:
    """Ranges that have each price of a filter's clause once; the clause alone where that is one."""
    ((field, bounds),) = price["range"].items()
    edges = price_edges(minor_digits)
    low, high = bounds.get("gte", 0), bounds["lte"]
    first = bisect_left(edges, low)
    last = len(edges) - 1 if high == NO_PRICE - 1 else bisect_right(edges, high) - 1
    if first >= last:
        return [price]
    between = {"gte": edges[first], "lte": high if high == NO_PRICE - 1 else edges[last]}
    ends = {"gte": low, "lte": edges[first] - 1}, {"gte": between["lte"] + 1, "lte": high}
    parts = [{"range": {field: part}} for part in (between, *ends) if part["gte"] <= part["lte"]]
    return parts if len(parts) > 1 else [price]
