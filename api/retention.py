"""The retention worker: erases idempotency keys, personal data, matches and counts of searches in time.

It also ends reservations (`api/orders/expiry.py`).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from api.background import PeriodicWorker
from api.orders.expiry import apply_expiry
from api.settings import Settings
from store import unanswered_searches
from store.connection.engine import Store
from store.orders import idempotency, privacy
from store.saved_searches import searches

KEY_RETENTION: Final = timedelta(hours=48)
"""The contract promises 24; the rest is for clocks that jump or are wrong by a time zone."""
REFUSAL_RETENTION: Final = timedelta(minutes=10)
"""A refusal ends requests with its key that began before it: those end within a minute by themselves."""
MATCH_RETENTION: Final = timedelta(days=30)
"""Of what a saved search was told; retries end within four days."""
REMOVED_RETENTION: Final = timedelta(hours=1)
"""Of a removed search, for attempts that are still under way."""
SEARCHES_RETENTION: Final = timedelta(days=30)
INTERVAL_SECONDS: Final = 60.0
BATCH: Final = 500  # one transaction: SQLite's lock is free again in well under a second
ORDERS_BATCH: Final = 100


def retention(
    store: Store, settings: Settings, wake_workers: Callable[[], None], count_expired: Callable[[int], None]
) -> PeriodicWorker:
    """The worker that applies the retention rules, counts the real orders that expire and wakes the others then. Any
    number of processes may run it.
    """

    async def run_once() -> float:
        seconds = await apply_retention(store, datetime.now(UTC), settings.personal_data_days)
        if settings.order_expiry is None:
            return seconds
        expired, until_next = await apply_expiry(store, datetime.now(UTC), settings.order_expiry)
        if expired:
            count_expired(sum(not order.sandbox for order in expired))
            wake_workers()
        return min(seconds, until_next)

    return PeriodicWorker("retention", run_once)


async def apply_retention(store: Store, now: datetime, personal_data_days: int | None) -> float:
    """Erases one batch; returns the seconds until the next, 0 where the batch was full."""
    async with store.transaction() as connection:
        keys = await idempotency.erase_older(connection, now - KEY_RETENTION, BATCH)
        refused = await idempotency.erase_refused(connection, now - REFUSAL_RETENTION, BATCH)
        callbacks = await searches.erase(connection, now - REMOVED_RETENTION, now - MATCH_RETENTION, BATCH)
        await unanswered_searches.erase_older(connection, (now - SEARCHES_RETENTION).date())
        erased = [await privacy.erase_forgotten(connection, ORDERS_BATCH)]
        if personal_data_days is not None:
            before = now - timedelta(days=personal_data_days)
            erased.append(await privacy.erase_older(connection, before, ORDERS_BATCH))
    await store.empty_journal(erased=any(erased))
    return 0.0 if BATCH in (keys, refused, callbacks) or ORDERS_BATCH in erased else INTERVAL_SECONDS
