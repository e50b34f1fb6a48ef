"""Upkeep: a store goes in; what has been kept long enough is erased from it, while the app lives."""

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Final

from api.orders.worker import Rounds, working
from store.connection.engine import Store
from store.orders import idempotency, privacy

KEYS_ARE_KEPT: Final = timedelta(hours=48)
"""The contract promises 24; the rest is for clocks that are wrong by a time zone or jump."""
EVERY_SECONDS: Final = 60.0
BATCH: Final = 500  # a transaction: the lock of SQLite is free again in well under a second
ORDERS_BATCH: Final = 100  # each is several statements


def upkeep(store: Store, personal_data_days: int | None) -> AbstractAsyncContextManager[Rounds]:
    """Upkeep of this store while the block lasts. Any number of processes may do it at once."""

    async def once() -> float:
        return await keep_up(store, datetime.now(UTC), personal_data_days)

    return working("upkeep of orders", once)


async def keep_up(store: Store, now: datetime, personal_data_days: int | None) -> float:
    """One round, and the seconds until the next: none where a batch was full."""
    async with store.transaction() as connection:
        keys = await idempotency.erase_older(connection, now - KEYS_ARE_KEPT, BATCH)
        erased = [await privacy.erase_forgotten(connection, ORDERS_BATCH)]
        if personal_data_days is not None:
            before = now - timedelta(days=personal_data_days)
            erased.append(await privacy.erase_older(connection, before, ORDERS_BATCH))
    return 0.0 if keys == BATCH or ORDERS_BATCH in erased else EVERY_SECONDS
