"""Remembers which filters match very many items, whatever the price: only there do counts by parts pay."""

from typing import Final

import orjson
from cachetools import LRUCache

from api.search.query.request import SearchQuery

MANY_ITEMS: Final = 300_000
"""To count the facets of so many takes the engine longer than a few more requests."""
MAX_FILTERS: Final = 1_000


class BroadFilters:
    """How many items searches found, by their filters without the price. Nothing but speed depends on it."""

    def __init__(self) -> None:
        self._totals: LRUCache[bytes, int] = LRUCache(MAX_FILTERS)

    def add(self, query: SearchQuery, total: int) -> None:
        """Remembers what a search has found."""
        key = _key(query)
        if key is not None:
            self._totals[key] = total

    def has(self, query: SearchQuery) -> bool:
        """Whether a search with these filters has found very many items."""
        key = _key(query)
        return key is not None and self._totals.get(key, 0) >= MANY_ITEMS


def _key(query: SearchQuery) -> bytes | None:
    """The filters without the price; None for what is not counted by parts: few searches have the same text."""
    if "price" not in query.filters or not query.parsed.matches_all or query.body.group_by is not None:
        return None
    others = {name: clause for name, clause in query.filters.items() if name != "price"}
    return orjson.dumps([others, query.forced_clauses, [parse.platform for parse in query.parsed.parses]])
