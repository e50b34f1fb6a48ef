"""Retention: erases idempotency keys and personal data whose time is over."""

from datetime import UTC, datetime, timedelta
from typing import Final

from api.orders.worker import PeriodicWorker
from store.connection.engine import Store
from store.orders import idempotency, privacy

KEY_RETENTION: Final = timedelta(hours=48)
"""The contract promises 24; the rest is for clocks that jump or are wrong by a time zone."""
INTERVAL_SECONDS: Final = 60.0
BATCH: Final = 500  # one transaction: SQLite's lock is free again in well under a second
ORDERS_BATCH: Final = 100  # each order is several statements


def retention(store: Store, personal_data_days: int | None) -> PeriodicWorker:
    """The worker that applies the retention rules. Any number of processes may run it."""

    async def run_once() -> float:
        return await apply_retention(store, datetime.now(UTC), personal_data_days)

    return PeriodicWorker("retention", run_once)


async def apply_retention(store: Store, now: datetime, personal_data_days: int | None) -> float:
    """Erases one batch; returns the seconds until the next, 0 where the batch was full."""
    async with store.transaction() as connection:
        keys = await idempotency.erase_older(connection, now - KEY_RETENTION, BATCH)
        erased = [await privacy.erase_forgotten(connection, ORDERS_BATCH)]
        if personal_data_days is not None:
            before = now - timedelta(days=personal_data_days)
            erased.append(await privacy.erase_older(connection, before, ORDERS_BATCH))
    return 0.0 if keys == BATCH or ORDERS_BATCH in erased else INTERVAL_SECONDS
