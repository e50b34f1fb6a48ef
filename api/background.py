"""Owns the tasks that outlive the request which started them."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

STOP_SECONDS = 3.0  # longer than the engine's default deadline

Result = TypeVar("Result")


class BackgroundTasks:
    """Starts tasks and awaits or cancels them at shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Starts a task; whoever awaits it gets its result or error."""
        task = asyncio.create_task(work)
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
