"""Puts the items of hits together from their listings and products, and remembers what products answers show."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
import structlog
from cachetools import LRUCache

from api.engine.answers import Failure, Hit, partial_answer
from api.engine.errors import NotLoadedError
from api.errors import ApiError
from mappings.items.listing import Listing, item_of, shown_part
from mappings.names import products_of

log = structlog.get_logger("gear.api")

CACHED_BYTES: Final = 24 * 1024**2
"""Of the parts that a worker remembers for searches: those of 36,000 products with their pictures."""
_ENTRY_BYTES: Final = 250  # what an entry takes besides: key, header and its place in two dictionaries
MAX_KEYS: Final = 1_000
"""In one request."""

GetDocuments = Callable[[list[dict[str, str]]], Awaitable[bytes]]


class _Document(msgspec.Struct):
    index: str = msgspec.field(name="_index")
    id: str = msgspec.field(name="_id")
    exists: bool = msgspec.field(default=False, name="found")
    source: dict[str, Any] = msgspec.field(default_factory=dict, name="_source")
    error: Failure | None = None


class _Documents(msgspec.Struct):
    docs: list[_Document]


_documents: Final = msgspec.json.Decoder(_Documents)


class Items:
    """The items of one worker's hits; what a key names never changes, so nothing that is remembered is ever wrong."""

    def __init__(self, get: GetDocuments, cached_bytes: int = CACHED_BYTES) -> None:
        """`get` asks the engine for documents by index and id, and gives its answer."""
        self._get = get
        self._parts: LRUCache[str, bytes] = LRUCache(cached_bytes, getsizeof=lambda part: len(part) + _ENTRY_BYTES)

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
            return [self._item(listing, self._parts) for _, listing in listings]
        except KeyError:  # a part is not remembered
            parts = await self._all_parts(listings)
            return [self._item(listing, parts) for _, listing in listings]

    def _item(self, listing: Listing, parts: Mapping[str, bytes]) -> bytes:
        return bytes(listing.item) if listing.is_complete else item_of(listing, parts)

    async def _all_parts(self, listings: Sequence[tuple[str, Listing]]) -> dict[str, bytes]:
        """The parts of all keys of the listings; apart from the cache, which may be too small for them."""
        parts: dict[str, bytes] = {}
        unknown: dict[str, str] = {}
        for index, listing in listings:
            if not listing.is_complete and not listing.product:
                raise _lacks_product(index)
            for key in () if listing.is_complete else listing.part_keys():
                part = self._parts.get(key)
                if part is None:
                    unknown[key] = products_of(index)
                else:
                    parts[key] = part
        keys = list(unknown.items())
        for first in range(0, len(keys), MAX_KEYS):
            parts |= await self._read(keys[first : first + MAX_KEYS])
        return parts

    async def _read(self, keys: list[tuple[str, str]]) -> dict[str, bytes]:
        targets = [{"_index": index, "_id": key} for key, index in keys]
        answer = _documents.decode(await self._get(targets))
        if len(answer.docs) != len(keys):
            raise partial_answer(documents=len(keys), answers=len(answer.docs))
        parts: dict[str, bytes] = {}
        for document in answer.docs:
            if document.error is not None:
                if document.error.type == "index_not_found_exception":
                    raise NotLoadedError(document.index)
                raise partial_answer(error=document.error.type)
            if not document.exists:
                raise _lacks_product(document.index)
            parts[document.id] = self._parts[document.id] = shown_part(document.source)
        return parts


def _lacks_product(index: str) -> ApiError:
    log.error("a listing names no product, or one that is missing: gear-indexer doctor", index=index)
    return ApiError("search_unavailable", f"{index} lacks a product: load the catalogue again")
