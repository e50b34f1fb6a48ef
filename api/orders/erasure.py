"""Erases the personal data of an account's orders, for `gear-api forget`."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from api.background.workers import give_way
from store.connection.engine import Store
from store.orders import privacy

BATCH: Final = 100  # one transaction: SQLite's lock is free again in well under a second
MARK_BATCH: Final = 1000


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

    Orders that are not at their end are marked and lose theirs once they get there (`api.retention`).
    `keep_ids` gets the ids before their mark is committed, so that they can be erased again after a restore.
    """
    erasure, orders = Erasure(), privacy.of_account(account, token_ids)
    while True:
        async with store.transaction() as connection:
            started = time.monotonic()
            marked = await privacy.mark(connection, orders, MARK_BATCH)
            await asyncio.to_thread(keep_ids, marked)
        if not marked:  # a batch may be short because others were faster
            break
        await give_way(started)
    while True:
        async with store.transaction() as connection:
            started = time.monotonic()
            erased = await privacy.erase_ended(connection, orders, BATCH)
        erasure.erased += erased
        if len(erased) < BATCH:
            break
        await give_way(started)
    async with store.reading() as connection:
        erasure.waiting = await privacy.waiting(connection, orders)
    erasure.journal_emptied = await store.empty_journal()
    return erasure


async def forget_again(store: Store, order_ids: Sequence[str]) -> Erasure:
    """The same for these orders, after a restore brought their personal data back."""
    erasure = Erasure()
    for begin in range(0, len(order_ids), BATCH):
        orders = privacy.of_ids(order_ids[begin : begin + BATCH])
        async with store.transaction() as connection:
            started = time.monotonic()
            await privacy.mark(connection, orders, BATCH)
            erasure.erased += await privacy.erase_ended(connection, orders, BATCH)
            erasure.waiting |= await privacy.waiting(connection, orders)
        await give_way(started)
    erasure.journal_emptied = await store.empty_journal()
    return erasure
