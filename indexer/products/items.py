"""Puts the items of listings together for commands: what their products say is read where it is not remembered."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from opensearchpy import OpenSearch

from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import multi_get
from indexer.errors import CommandError
from mappings.items.assembly import LacksProductError, SharedDocuments, Target, items_of
from mappings.items.listing import Listing

CACHED_BYTES: Final = 50 * 1024**2


class ItemAssembler:
    def __init__(self, client: OpenSearch, retry: RetryPolicy, *, cached_bytes: int = CACHED_BYTES) -> None:
        self._client = client
        self._retry = retry
        self._shared = SharedDocuments(cached_bytes)

    def of_hits(self, hits: Sequence[Mapping[str, Any]]) -> list[bytes]:
        """The items of hits as JSON, in their order; raises CommandError where one cannot be put together."""
        try:
            listings = [(hit["_index"], msgspec.convert(hit["_source"], Listing)) for hit in hits]
            shared, requests = self._shared.of_listings(listings)
            for targets in requests:
                shared |= self._retry.call(partial(self._read, targets))
            return items_of(listings, shared)
        except LacksProductError as error:
            raise CommandError(f"{error}; export again, or see gear-indexer doctor") from error
        except msgspec.ValidationError as error:
            message = f"{hits[0]['_index']} has a listing that no load has written ({error}); load its catalogue again"
            raise CommandError(message) from error

    def _read(self, targets: list[Target]) -> dict[str, bytes]:
        """The display JSON of shared documents by key."""
        shared: dict[str, bytes] = {}
        for document in multi_get(self._client, {"docs": targets}):
            index, key = document["_index"], document["_id"]
            shared[key] = self._shared.add(index, key, document["_source"] if document.get("found") else None)
        return shared
