"""Upkeep: a store goes in; what has been kept long enough is erased from it, while the app lives."""

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Final

from api.orders.rounds import Rounds, working
from store import idempotency
from store.engine import Store

KEYS_ARE_KEPT: Final = timedelta(hours=48)
"""The contract promises 24; the rest is for clocks that are wrong by a time zone or jump."""
EVERY_SECONDS: Final = 60.0
BATCH: Final = 500  # a transaction: the lock of SQLite is free again in well under a second


def upkeep(store: Store) -> AbstractAsyncContextManager[Rounds]:
    """Upkeep of this store while the block lasts. Any number of processes may do it at once."""

    async def once() -> float:
        return await keep_up(store, datetime.now(UTC))

    return working("upkeep of orders", once)


async def keep_up(store: Store, now: datetime) -> float:
    """One round, and the seconds until the next: none where a batch was full."""
    async with store.transaction() as connection:
        erased = await idempotency.erase_older(connection, now - KEYS_ARE_KEPT, BATCH)
    return 0.0 if erased == BATCH else EVERY_SECONDS
