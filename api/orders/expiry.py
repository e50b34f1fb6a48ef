"""Expiry: orders that stay `created` for too long fail, which ends their reservations."""

from datetime import datetime, timedelta
from typing import Final

from store.connection.engine import Store
from store.orders import batches
from store.records import Order

INTERVAL_SECONDS: Final = 60.0
MIN_INTERVAL_SECONDS: Final = 1.0
BATCH: Final = 100  # one transaction: SQLite's lock is free again in well under a second


async def apply_expiry(store: Store, now: datetime, expiry: timedelta) -> tuple[list[Order], float]:
    """Fails one batch of orders that stayed `created` for so long; returns them and the seconds until the next
    batch. Writes nothing where none is due.
    """
    async with store.reading() as connection:
        oldest = await batches.next_expiry(connection)
    if oldest is None or oldest + expiry > now:
        # an order that is placed from now on is not due before the whole expiry has passed
        seconds = (expiry if oldest is None else oldest + expiry - now).total_seconds()
        return [], min(INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, seconds))
    async with store.transaction() as connection:
        expired = await batches.expire(connection, now - expiry, BATCH, now)
    return expired, 0.0 if expired else MIN_INTERVAL_SECONDS
