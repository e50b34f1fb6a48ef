"""Remembers which filters match very many items under some price: only there do counts by parts pay."""

from hashlib import blake2b
from typing import Final

import orjson
from cachetools import LRUCache

from api.search.query.request import SearchQuery

MANY_ITEMS: Final = 300_000
"""To count the facets of so many takes the engine longer than a few more requests."""
MAX_FILTERS: Final = 1_000


class BroadFilters:
    """The filters, without the price, of searches that found very many items. Nothing but speed depends on it."""

    def __init__(self) -> None:
        self._keys: LRUCache[bytes, bool] = LRUCache(MAX_FILTERS)

    def add(self, query: SearchQuery, total: int) -> None:
        """Remembers the filters of a search that found so many items."""
        key = _key(query) if total >= MANY_ITEMS else None
        if key is not None:
            self._keys[key] = True

    def has(self, query: SearchQuery) -> bool:
        """Whether a search with these filters has found very many items."""
        key = _key(query)
        return key is not None and self._keys.get(key, False)


def _key(query: SearchQuery) -> bytes | None:
    """A digest of the filters without the price; None for what is not counted by parts: few searches share a text."""
    if "price" not in query.filters or not query.parsed.matches_all or query.body.group_by is not None:
        return None
    others = {name: clause for name, clause in query.filters.items() if name != "price"}
    platforms = [parse.platform.id for parse in query.parsed.parses]
    return blake2b(orjson.dumps([others, query.forced_clauses, platforms]), digest_size=16).digest()
