"""Which items active orders bind: by the store, and while that is away by the index."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from api.engine.client import Engine
from mappings.platforms import Platforms
from store.bound_items import bound_among
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable

STORE_SECONDS = 1.0  # a search waits no longer for the store


@dataclass(frozen=True)
class Availability:
    """Knows what is bound now, whatever the index had when it was searched."""

    engine: Engine
    platforms: Platforms
    store: Store

    async def bound_among(self, items: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those of these pairs of item and platform that are bound; raises ApiError `search_unavailable`.

        Without the store nothing can be ordered, so the index is at most its last unpublished updates behind.
        """
        numbers: dict[int, list[int]] = {}
        for item, platform in items:
            numbers.setdefault(platform, []).append(item)
        if not numbers:
            return set()
        try:
            async with asyncio.timeout(STORE_SECONDS), self.store.reading() as connection:
                bound = {platform: await bound_among(connection, platform, numbers[platform]) for platform in numbers}
        except (StoreUnavailable, TimeoutError):
            loaded = [platform for platform in self.platforms if platform.id in numbers]
            bound = {platform.id: await self.engine.bound_among(platform, numbers[platform.id]) for platform in loaded}
        return {(item, platform) for platform, bound_items in bound.items() for item in bound_items}
