"""Expiry: orders that stay `created` for too long fail, which releases their items."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from api.background.failing_rows import FailingRows
from api.background.workers import PeriodicWorker
from store.connection.engine import Store
from store.orders import batches
from store.records import Order

INTERVAL_SECONDS: Final = 60.0
MIN_INTERVAL_SECONDS: Final = 1.0
BATCH: Final = 100  # one transaction: SQLite's lock is free again in well under a second


def expiry(
    store: Store, after: timedelta, wake_workers: Callable[[], None], count_expired: Callable[[int], None]
) -> PeriodicWorker:
    """The worker that fails orders which stayed `created` for so long, counts the real ones and wakes the others then.
    Any number of processes may run it.
    """
    failing = FailingRows[str]("expiry")

    async def run_once() -> float:
        expired, seconds = await apply_expiry(store, datetime.now(UTC), after, failing)
        if expired:
            count_expired(sum(not order.sandbox for order in expired))
            wake_workers()
        return seconds

    return PeriodicWorker("expiry", run_once)


async def apply_expiry(
    store: Store, now: datetime, after: timedelta, failing: FailingRows[str]
) -> tuple[list[Order], float]:
    """Fails one batch of orders that stayed `created` for so long; returns them and the seconds until the next
    batch. Writes nothing where none is due.
    """

    async def expire(order_ids: Sequence[str]) -> list[Order]:
        async with store.transaction() as connection:
            return await batches.expire(connection, order_ids, now)

    async with store.reading() as connection:
        oldest = await batches.oldest_created(connection, BATCH, failing.paused())
    due = [order_id for order_id, placed_at in oldest.items() if placed_at + after <= now]
    if not due:
        # an order that is placed from now on is not due before the whole expiry has passed
        seconds = (next(iter(oldest.values()), now) + after - now).total_seconds()
        return [], min(INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, seconds))
    expired = await failing.run(due, expire)
    return expired, 0.0 if expired else MIN_INTERVAL_SECONDS
