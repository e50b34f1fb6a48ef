"""Puts items together from listings and the shared documents that they name, and caches what these show.

Writer and reader use it alike; each reads documents by its own client. Framework-free.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from cachetools import LRUCache

from mappings.items.listing import Listing, display_json, item_of
from mappings.names import products_of

MAX_KEYS: Final = 1_000
"""In one request."""
_ENTRY_BYTES: Final = 250  # what an entry takes besides: key, header and its place in two dictionaries
_SPARE_BYTES: Final = 128 * 1024

Listings = Sequence[tuple[str, Listing]]
"""Listings, each with the index that it is in."""
Target = dict[str, str]
"""A document of a multi-get: its `_index` and `_id`."""


class LacksProductError(Exception):
    """A listing names no product, or a shared document that its generation lacks or that is of another kind."""

    def __init__(self, index: str) -> None:
        super().__init__(f"{index} lacks a product")
        self.index = index


def items_of(listings: Listings, shared: Mapping[str, bytes]) -> list[bytes]:
    """The items as JSON; `shared` has the display JSON of their shared documents. Raises LacksProductError."""
    items = []
    for index, listing in listings:
        try:
            items.append(item_of(listing, shared))
        except (KeyError, ValueError) as error:
            raise LacksProductError(index) from error
    return items


class SharedDocuments:
    """The display JSON of shared documents by key, of which so many bytes are cached, those used last.

    What a key names never changes, so nothing cached is ever wrong.
    """

    def __init__(self, cached_bytes: int) -> None:
        self.cached: LRUCache[str, bytes] = LRUCache(cached_bytes, getsizeof=lambda text: len(text) + _ENTRY_BYTES)

    @property
    def has_room(self) -> bool:
        """Whether some hundred shared documents can be cached without others being evicted."""
        return self.cached.currsize + _SPARE_BYTES < self.cached.maxsize

    def of_listings(self, listings: Listings) -> tuple[dict[str, bytes], Iterator[list[Target]]]:
        """What is cached of the shared documents of listings, and the requests for the others.

        The cache may be too small for all of them. Raises LacksProductError where a listing names no product.
        """
        shared: dict[str, bytes] = {}
        unknown: dict[str, str] = {}
        for index, listing in listings:
            if not listing.product:
                raise LacksProductError(index)
            for key in listing.shared_keys():
                display = self.cached.get(key)
                if display is None:
                    unknown[key] = products_of(index)
                else:
                    shared[key] = display
        targets = [{"_index": index, "_id": key} for key, index in unknown.items()]
        return shared, (targets[first : first + MAX_KEYS] for first in range(0, len(targets), MAX_KEYS))

    def add(self, index: str, key: str, document: Mapping[str, Any] | None) -> bytes:
        """Caches a document of an index of products, None where it is missing; returns its display JSON.

        Raises LacksProductError.
        """
        try:
            display = display_json(document or {})
        except KeyError as error:
            raise LacksProductError(index) from error
        with suppress(ValueError):  # it is larger than the cache
            self.cached[key] = display
        return display
