"""Puts the items of hits together from their listings and products, and remembers of products what responses show."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager

from api.engine.documents import ProductDocument
from api.engine.errors import LOAD_AGAIN
from api.engine.responses import Hit
from api.errors import ApiError
from api.log import log
from mappings.items.assembly import LacksProductError, Listings, SharedDocuments, Target, items_of

GetProducts = Callable[[list[Target]], Awaitable[list[ProductDocument]]]


class ItemAssembler:
    """Puts the items of one worker's hits together."""

    def __init__(self, get: GetProducts, cached_bytes: int) -> None:
        """`get` reads documents of products by index and id; raises NotLoadedError, ApiError `search_unavailable`."""
        self._get = get
        self.shared = SharedDocuments(cached_bytes)

    async def complete(self, hits: Iterable[Hit]) -> None:
        """Adds its item to each hit that has a listing; raises NotLoadedError where its generation is gone, ApiError
        `search_unavailable`.
        """
        listed = [hit for hit in hits if "_source" in hit]
        items = await self.of_listings([(hit.get("_index", ""), hit["_source"]) for hit in listed])
        for hit, item in zip(listed, items, strict=True):
            hit["item"] = item

    async def of_listings(self, listings: Listings) -> list[bytes]:
        """The items of listings; raises as `complete`."""
        try:
            return items_of(listings, self.shared.cached)
        except LacksProductError:  # what it lacks may only not be cached
            with _reported():
                shared, requests = self.shared.of_listings(listings)
                for targets in requests:
                    shared |= await self.read(targets)
                return items_of(listings, shared)

    async def read(self, targets: list[Target]) -> dict[str, bytes]:
        """Reads and caches shared documents; raises as `complete`. Returns their display JSON by key."""
        with _reported():
            return {
                each.id: self.shared.add(each.index, each.id, each.source if each.exists else None)
                for each in await self._get(targets)
            }


@contextmanager
def _reported() -> Iterator[None]:
    """Logs that a product is lacking, and raises ApiError `search_unavailable`."""
    try:
        yield
    except LacksProductError as error:
        log.error("a listing names no product, or one that is missing: gear-indexer doctor", index=error.index)
        raise ApiError("search_unavailable", f"{error}: {LOAD_AGAIN}") from error
