"""Sandbox moves: moves sandbox orders through the states that their scenario plans."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from api.background.failing_rows import FailingRows
from api.background.workers import PeriodicWorker
from store.connection.engine import Store
from store.orders import sandbox

POLL_SECONDS: Final = 0.5
BATCH: Final = 100


def sandbox_moves(store: Store, wake_workers: Callable[[], None]) -> PeriodicWorker:
    """The worker that makes the planned moves and wakes the others after them. Any number of processes may run it."""
    failing = FailingRows[str]("sandbox moves")

    async def run_once() -> float:
        if await make_moves(store, datetime.now(UTC), failing):
            wake_workers()
            return 0.0
        return POLL_SECONDS

    return PeriodicWorker("sandbox moves", run_once)


async def make_moves(store: Store, now: datetime, failing: FailingRows[str]) -> int:
    """Makes the moves that are due, but for orders that fail; returns the number of orders. Writes nothing where none
    is due.
    """

    async def move(order_ids: Sequence[str]) -> list[str]:
        async with store.transaction() as connection:
            return await sandbox.move_due(connection, now, order_ids)

    async with store.reading() as connection:
        due = await sandbox.due(connection, now, BATCH, failing.paused())
    return len(await failing.run(due, move))
