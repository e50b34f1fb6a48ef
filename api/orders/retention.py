"""Retention: ends reservations, and erases idempotency keys, personal data and counts of searches in time."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from api.background import PeriodicWorker, give_way
from api.settings import Settings
from store import unanswered_searches
from store.connection.engine import Store
from store.orders import batches, idempotency, privacy
from store.records import Order
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
MIN_INTERVAL_SECONDS: Final = 1.0
BATCH: Final = 500  # one transaction: SQLite's lock is free again in well under a second
ORDERS_BATCH: Final = 100
MARK_BATCH: Final = 1000


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


@dataclass
class Erasure:
    """Orders whose personal data were erased, and those that keep theirs until their end, with the present state."""

    erased: list[str] = field(default_factory=list)
    waiting: dict[str, str] = field(default_factory=dict)
    journal_emptied: bool = True


async def forget_account(
    store: Store, account: str, token_ids: Sequence[str], keep_ids: Callable[[list[str]], None]
) -> Erasure:
    """Erases the personal data of the account's orders, of these tokens, in short transactions.

    Orders that are not at their end are marked and lose theirs once they get there (`privacy.erase_forgotten`).
    `keep_ids` gets the ids before their mark is committed, so that they can be erased again after a restore.
    """
    erasure = Erasure()
    while True:
        async with store.transaction() as connection:
            started = time.monotonic()
            marked = await privacy.mark(connection, account, token_ids, MARK_BATCH)
            await asyncio.to_thread(keep_ids, marked)
        if not marked:  # a batch may be short because others were faster
            break
        await give_way(started)
    while True:
        async with store.transaction() as connection:
            started = time.monotonic()
            erased = await privacy.erase_account(connection, account, token_ids, ORDERS_BATCH)
        erasure.erased += erased
        if len(erased) < ORDERS_BATCH:
            break
        await give_way(started)
    async with store.reading() as connection:
        erasure.waiting = await privacy.waiting(connection, account, token_ids)
    erasure.journal_emptied = await store.empty_journal()
    return erasure


async def forget_again(store: Store, order_ids: Sequence[str]) -> Erasure:
    """The same for these orders, after a restore brought their personal data back."""
    erasure = Erasure()
    for begin in range(0, len(order_ids), ORDERS_BATCH):
        batch = order_ids[begin : begin + ORDERS_BATCH]
        async with store.transaction() as connection:
            started = time.monotonic()
            await privacy.mark_again(connection, batch)
            erasure.erased += await privacy.erase_marked(connection, batch)
            erasure.waiting |= await privacy.waiting_among(connection, batch)
        await give_way(started)
    erasure.journal_emptied = await store.empty_journal()
    return erasure


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
        expired = await batches.expire(connection, now - expiry, ORDERS_BATCH, now)
    return expired, 0.0 if expired else MIN_INTERVAL_SECONDS
