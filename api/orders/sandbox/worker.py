"""Sandbox moves: moves sandbox orders through the states that their scenario plans."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from api.background import PeriodicWorker
from store.connection.engine import Store
from store.orders import sandbox

POLL_SECONDS: Final = 0.5
BATCH: Final = 100


def sandbox_moves(store: Store, wake_workers: Callable[[], None]) -> PeriodicWorker:
    """The worker that makes the planned moves and wakes the others after them. Any number of processes may run it."""

    async def run_once() -> float:
        if await make_moves(store, datetime.now(UTC)):
            wake_workers()
            return 0.0
        return POLL_SECONDS

    return PeriodicWorker("sandbox moves", run_once)


async def make_moves(store: Store, now: datetime) -> int:
    """Makes the moves that are due; returns the number of orders. Writes nothing where none is due."""
    async with store.reading() as connection:
        due_at = await sandbox.next_due(connection)
    if due_at is None or due_at > now:
        return 0
    async with store.transaction() as connection:
        return await sandbox.move_due(connection, now, BATCH)
