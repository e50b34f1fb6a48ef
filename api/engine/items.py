"""Puts the items of hits together from their listings and products, and remembers what products answers show."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import structlog
from cachetools import LRUCache

from api.engine.documents import ProductDocument
from api.engine.errors import LOAD_AGAIN
from api.engine.responses import Hit
from api.errors import ApiError
from mappings.items.listing import Listing, display_json, item_of
from mappings.names import products_of

log = structlog.get_logger("gear.api")

_ENTRY_BYTES: Final = 250  # what an entry takes besides: key, header and its place in two dictionaries
_SPARE_BYTES: Final = 128 * 1024
MAX_KEYS: Final = 1_000
"""In one request."""

GetProducts = Callable[[list[dict[str, str]]], Awaitable[list[ProductDocument]]]


class ItemAssembler:
    """Puts the items of one worker's hits together. What a key names never changes, so nothing cached is ever wrong."""

    def __init__(self, get: GetProducts, cached_bytes: int) -> None:
        """`get` reads documents of products by index and id; raises NotLoadedError, ApiError `search_unavailable`."""
        self._get = get
        self._cache: LRUCache[str, bytes] = LRUCache(cached_bytes, getsizeof=lambda text: len(text) + _ENTRY_BYTES)

    async def complete(self, hits: Iterable[Hit]) -> None:
        """Adds its item to each hit that has a listing; raises NotLoadedError where its generation is gone, ApiError
        `search_unavailable`.
        """
        listed = [hit for hit in hits if "_source" in hit]
        items = await self.of_listings([(hit.get("_index", ""), hit["_source"]) for hit in listed])
        for hit, item in zip(listed, items, strict=True):
            hit["item"] = item

    async def of_listings(self, listings: Sequence[tuple[str, Listing]]) -> list[bytes]:
        """The items of listings, each with the index that it is in; raises as `complete`."""
        try:
            return [_item(index, listing, self._cache) for index, listing in listings]
        except KeyError:  # a shared document is not cached
            shared = await self._all_shared(listings)
            return [_item(index, listing, shared) for index, listing in listings]

    async def _all_shared(self, listings: Sequence[tuple[str, Listing]]) -> dict[str, bytes]:
        """The display JSON of all shared documents of the listings; the cache may be too small for them."""
        shared: dict[str, bytes] = {}
        unknown: dict[str, str] = {}
        for index, listing in listings:
            if not listing.product:
                raise _lacks_product(index)
            for key in listing.shared_keys():
                display = self._cache.get(key)
                if display is None:
                    unknown[key] = products_of(index)
                else:
                    shared[key] = display
        keys = list(unknown.items())
        for first in range(0, len(keys), MAX_KEYS):
            shared |= await self.read(keys[first : first + MAX_KEYS])
        return shared

    @property
    def has_room(self) -> bool:
        """Whether some hundred shared documents can be cached without others being evicted."""
        return self._cache.currsize + _SPARE_BYTES < self._cache.maxsize

    async def read(self, keys: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        """Reads and caches the shared documents with these keys, each in the index beside it; raises as `complete`.

        Returns their display JSON.
        """
        targets = [{"_index": index, "_id": key} for key, index in keys]
        shared: dict[str, bytes] = {}
        for document in await self._get(targets):
            if not document.exists:
                raise _lacks_product(document.index)
            try:
                display = display_json(document.source)
            except KeyError as error:  # it is of another kind
                raise _lacks_product(document.index) from error
            shared[document.id] = display
            with suppress(ValueError):  # it is larger than the cache
                self._cache[document.id] = display
        return shared


def _item(index: str, listing: Listing, shared: Mapping[str, bytes]) -> bytes:
    try:
        return item_of(listing, shared)
    except ValueError as error:  # a shared document is of another kind
        raise _lacks_product(index) from error


def _lacks_product(index: str) -> ApiError:
    log.error("a listing names no product, or one that is missing: gear-indexer doctor", index=index)
    return ApiError("search_unavailable", f"{index} lacks a product: {LOAD_AGAIN}")
