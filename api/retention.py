"""The retention worker: erases idempotency keys, personal data, matches and counts of searches in time."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from api.background.failing_rows import FailingRows
from api.background.workers import PeriodicWorker
from store import unanswered_searches
from store.connection.engine import Store
from store.orders import idempotency, privacy
from store.retention_days import SEARCHES_DAYS
from store.saved_searches import searches

KEY_RETENTION: Final = timedelta(hours=48)
"""The contract promises 24; the rest is for clocks that jump or are wrong by a time zone."""
REFUSAL_RETENTION: Final = timedelta(minutes=10)
"""A refusal ends requests with its key that began before it: those end within a minute by themselves."""
MATCH_RETENTION: Final = timedelta(days=30)
"""Of a saved search's matches; retries end within four days."""
REMOVED_RETENTION: Final = timedelta(hours=1)
"""Of a removed search, for attempts that are still under way."""
SEARCHES_RETENTION: Final = timedelta(days=SEARCHES_DAYS)
INTERVAL_SECONDS: Final = 60.0
BATCH: Final = 500  # one transaction: SQLite's lock is free again in well under a second
ORDERS_BATCH: Final = 100


def retention(store: Store, personal_data_days: int | None) -> PeriodicWorker:
    """The worker that applies the retention rules. Any number of processes may run it."""
    failing = FailingRows[str]("retention")
    return PeriodicWorker("retention", lambda: apply_retention(store, datetime.now(UTC), personal_data_days, failing))


async def apply_retention(
    store: Store, now: datetime, personal_data_days: int | None, failing: FailingRows[str]
) -> float:
    """Erases one batch; returns the seconds until the next, 0 where the batch was full.

    A rule that fails holds up no other, and an order that fails none.
    """
    rules: dict[str, Callable[[AsyncConnection], Awaitable[int | None]]] = {
        "keys": lambda connection: idempotency.erase_older(connection, now - KEY_RETENTION, BATCH),
        "refusals": lambda connection: idempotency.erase_refused(connection, now - REFUSAL_RETENTION, BATCH),
        "callbacks": lambda connection: searches.erase(
            connection, now - REMOVED_RETENTION, now - MATCH_RETENTION, BATCH
        ),
        "searches": lambda connection: unanswered_searches.erase_older(connection, (now - SEARCHES_RETENTION).date()),
    }

    async def apply(names: Sequence[str]) -> list[int | None]:
        async with store.transaction() as connection:
            return [await rules[name](connection) for name in names]

    erased = await failing.run(failing.ready(rules), apply)
    orders = [await _erase_orders(store, None, failing)]
    if personal_data_days is not None:
        orders.append(await _erase_orders(store, now - timedelta(days=personal_data_days), failing))
    await store.empty_journal(erased=False)
    return 0.0 if BATCH in erased or any(orders) else INTERVAL_SECONDS


async def _erase_orders(store: Store, before: datetime | None, failing: FailingRows[str]) -> bool:
    """Erases the personal data of orders, those to be forgotten with None (`privacy.erasable`).

    Returns whether there may be more: the batch was full, and not all of it failed.
    """

    async def erase(order_ids: Sequence[str]) -> list[str]:
        async with store.transaction() as connection:
            erased = await privacy.erase(connection, before, order_ids)
        await store.empty_journal(erased=bool(erased))
        return erased

    async with store.reading() as connection:
        ids = await privacy.erasable(connection, before, ORDERS_BATCH, failing.paused())
    erased = await failing.run(ids, erase)
    return len(ids) == ORDERS_BATCH and bool(erased)
