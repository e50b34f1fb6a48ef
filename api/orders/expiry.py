"""Expiry: orders that stay `created` for too long fail, which ends their reservations."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from api.background import FailingRows
from store.connection.engine import Store
from store.orders import batches
from store.records import Order

INTERVAL_SECONDS: Final = 60.0
MIN_INTERVAL_SECONDS: Final = 1.0
BATCH: Final = 100  # one transaction: SQLite's lock is free again in well under a second


async def apply_expiry(
    store: Store, now: datetime, expiry: timedelta, failing: FailingRows[str] | None = None
) -> tuple[list[Order], float]:
    """Fails one batch of orders that stayed `created` for so long; returns them and the seconds until the next
    batch. Writes nothing where none is due.
    """
    failing = failing or FailingRows("expiry")

    async def expire(order_ids: Sequence[str]) -> list[Order]:
        async with store.transaction() as connection:
            return await batches.expire(connection, order_ids, now)

    async with store.reading() as connection:
        oldest = await batches.next_expiry(connection, failing.paused())
        is_due = oldest is not None and oldest + expiry <= now
        due = await batches.expirable(connection, now - expiry, BATCH, failing.paused()) if is_due else []
    if not is_due:
        # an order that is placed from now on is not due before the whole expiry has passed
        seconds = (expiry if oldest is None else oldest + expiry - now).total_seconds()
        return [], min(INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, seconds))
    expired = await failing.run(due, expire)
    return expired, 0.0 if expired else MIN_INTERVAL_SECONDS
