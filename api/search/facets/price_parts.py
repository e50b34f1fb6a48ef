"""Splits a range of prices where histograms have their edges, and at finer steps between these, and remembers which
filters match so many items under some price that counts by these parts pay. Framework-free.

Buyers move the bounds of a price and leave the rest of a search as it is. What lies between two edges is the same for
all these searches, so the engine has counted it before, and only what is left at both ends is counted anew. Amounts
that buyers write are edges more often than not: then nothing is left.
"""

from bisect import bisect_left, bisect_right
from hashlib import blake2b
from typing import Final

import orjson
from cachetools import LRUCache

from api.engine.clauses import Clause
from api.search.query.request import SearchQuery
from mappings.histograms import price_edges
from mappings.money import NO_PRICE

MANY_ITEMS: Final = 300_000
"""To count the facets of so many takes the engine longer than a few more requests."""
MAX_FILTERS: Final = 1_000

# The finer steps above an edge, as a part of its power of ten: 1.1, 1.2 …; 2.25, 2.5 …; 5.5, 6 …
_STEPS_OF_POWER = {1: 10, 2: 4, 5: 2}


def price_parts(price: Clause, minor_digits: int) -> list[Clause]:
    """Ranges that have each price of a filter's clause once; the clause alone where that is one."""
    ((field, bounds),) = price["range"].items()
    low, high = bounds.get("gte", 0), bounds["lte"]
    edges = price_edges(minor_digits)
    first, last = bisect_left(edges, low), bisect_right(edges, high) - 1
    below = edges[max(first - 1, 0)]  # where finer steps up from `low` begin
    if first > last:  # no edge is inside
        from_step, to_step = _up(low, below), _down(high, below)
        spans = [(from_step, to_step), (low, from_step - 1), (to_step + 1, high)]
        spans = spans if from_step < to_step else [(low, high)]
    else:
        start = edges[first]
        # nothing costs more than the last edge
        end = high if high == NO_PRICE - 1 else edges[last] if first < last else start - 1
        from_step = min(_up(low, below), start)
        to_step = max(_down(high, edges[last]), end)
        spans = [(start, end), (from_step, start - 1), (low, from_step - 1), (end + 1, to_step), (to_step + 1, high)]
    spans = [(lowest, highest) for lowest, highest in spans if lowest <= highest]
    return [{"range": {field: {"gte": lowest, "lte": highest}}} for lowest, highest in spans] if spans[1:] else [price]


def _step(edge: int) -> int:
    """The finer steps above an edge, in minor units."""
    power = int(10 ** (len(str(edge)) - 1))
    return max(power // _STEPS_OF_POWER.get(edge // power, 1), 1)


def _up(price: int, edge: int) -> int:
    """The first step above an edge that is not below a price."""
    return edge - (edge - price) // _step(edge) * _step(edge)


def _down(price: int, edge: int) -> int:
    """The last step above an edge that is not above a price."""
    return edge + (price - edge) // _step(edge) * _step(edge)


class BroadFilters:
    """The filters, without the price, of searches that found very many items. Nothing but speed depends on it."""

    def __init__(self) -> None:
        self._keys: LRUCache[bytes, bool] = LRUCache(MAX_FILTERS)

    def add(self, query: SearchQuery, total: int) -> None:
        """Remembers the filters of a search that found so many items."""
        key = _filters_key(query) if total >= MANY_ITEMS else None
        if key is not None:
            self._keys[key] = True

    def has(self, query: SearchQuery) -> bool:
        """Whether a search with these filters has found very many items."""
        key = _filters_key(query)
        return key is not None and self._keys.get(key, False)


def _filters_key(query: SearchQuery) -> bytes | None:
    """A digest of the filters without the price; None for what is not counted by parts: few searches share a text."""
    if "price" not in query.filters or not query.parsed.matches_all or query.body.group_by is not None:
        return None
    others = {name: clause for name, clause in query.filters.items() if name != "price"}
    platforms = [parse.platform.id for parse in query.parsed.parses]
    return blake2b(orjson.dumps([others, query.forced_clauses, platforms]), digest_size=16).digest()
