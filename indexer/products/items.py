"""Puts the items of listings together for commands: what their products say is read where it is not remembered."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from cachetools import LRUCache
from opensearchpy import OpenSearch

from indexer.engine.deletes import check_read
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import in_pages
from indexer.errors import CommandError
from mappings.items.listing import Listing, display_json, item_of
from mappings.names import products_of

CACHED_BYTES: Final = 50 * 1024**2
MAX_KEYS: Final = 1_000
"""In one request."""


class ItemAssembler:
    """Puts the items of listings together."""

    def __init__(self, client: OpenSearch, retry: RetryPolicy) -> None:
        self._client = client
        self._retry = retry
        self._cache: LRUCache[str, bytes] = LRUCache(CACHED_BYTES, getsizeof=len)

    def of_hits(self, hits: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The items of hits as JSON values, in their order; raises CommandError where a product is missing."""
        listings = [msgspec.convert(hit["_source"], Listing) for hit in hits]
        shared = self._all_shared(
            {
                key: products_of(hit["_index"])
                for hit, listing in zip(hits, listings, strict=True)
                for key in listing.shared_keys()
            }
        )
        return [msgspec.json.decode(item_of(listing, shared)) for listing in listings]

    def _all_shared(self, indices: Mapping[str, str]) -> dict[str, bytes]:
        """The display JSON of the shared documents with these keys, each with the index that it is in."""
        shared = {key: self._cache[key] for key in indices if key in self._cache}
        unknown = [key for key in indices if key not in shared]
        for keys in in_pages(unknown, MAX_KEYS):
            targets = [{"_index": indices[key], "_id": key} for key in keys]
            for document in self._retry.call(partial(self._read, targets)):
                if not document.get("found"):
                    message = f"{document['_index']} lacks a product; export again, or see gear-indexer doctor"
                    raise CommandError(message)
                shared[document["_id"]] = self._cache[document["_id"]] = display_json(document["_source"])
        return shared

    def _read(self, targets: list[dict[str, str]]) -> list[dict[str, Any]]:
        documents: list[dict[str, Any]] = self._client.mget(body={"docs": targets})["docs"]
        for document in documents:
            check_read(document)
        return documents
