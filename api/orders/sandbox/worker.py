"""Sandboxing: a store goes in; while the app lives, its sandbox orders go through what they are to go through."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Final

from api.orders.worker import Rounds, working
from store.connection.engine import Store
from store.orders import sandbox

POLL_SECONDS: Final = 0.5
BATCH: Final = 100


def sandboxing(store: Store, wake: Callable[[], None]) -> AbstractAsyncContextManager[Rounds]:
    """Moves while the block lasts; `wake` is called after some were made. Any number of processes may share them."""

    async def once() -> float:
        made = await make_moves(store, datetime.now(UTC))
        if made:
            wake()
        return 0.0 if made else POLL_SECONDS

    return working("moves of sandbox orders", once)


async def make_moves(store: Store, now: datetime) -> int:
    """Makes the moves that are due; how many orders it took up. Nothing is written where none is."""
    async with store.reading() as connection:
        due_at = await sandbox.next_due(connection)
    if due_at is None or due_at > now:
        return 0
    async with store.transaction() as connection:
        return await sandbox.move_due(connection, now, BATCH)
