"""Owns the tasks that outlive the request which started them, and paces long work."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from api.deadline import without_request

STOP_SECONDS = 3.0  # longer than the engine's default deadline

PAUSE_SECONDS = 0.02  # between two batches of writes, at least

Result = TypeVar("Result")


class BackgroundTasks:
    """Starts tasks and awaits or cancels them at shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Starts a task; whoever awaits it gets its result or error."""
        task = asyncio.create_task(work, context=without_request())
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self, seconds: float = STOP_SECONDS) -> None:
        """Waits until all tasks have ended; cancels those that have not by then."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # if nobody waits any more its error is nobody's: asyncio shall not report it as unseen


async def give_way(started: float) -> None:
    """Pauses after a batch of writes that began at `started` (monotonic) for as long as it took: others write then."""
    await asyncio.sleep(max(PAUSE_SECONDS, time.monotonic() - started))
