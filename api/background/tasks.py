"""Tasks that outlive the request which started them, and the one end of all."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Final, TypeVar

from api.current_request import without_request
from api.errors import ApiError
from api.log import log
from store.connection.errors import StoreUnavailable

STOP_SECONDS: Final = 5.0  # longer than the engine's default deadline
GIVE_BACK_SECONDS: Final = 5.0
MIN_SECONDS: Final = 0.1  # for whatever ends last, where those before it have used up the time
Result = TypeVar("Result")


class StopDeadline:
    """The end of a stop, which all share that end one after the other. It begins with the first of them.

    Work has `seconds` to end. Then it is cancelled, and within `give_back_seconds` what it held is given back.
    """

    def __init__(self, seconds: float = STOP_SECONDS, give_back_seconds: float = GIVE_BACK_SECONDS) -> None:
        self._seconds = seconds
        self._all_seconds = seconds + give_back_seconds
        self._began: float | None = None

    async def finish(self, tasks: set[asyncio.Task[Any]], *, until_end: bool = False) -> set[asyncio.Task[Any]]:
        """Waits for tasks, with `until_end` as long as for what is given back. Then cancels those that are left and
        waits for their cleanup; returns the cancelled ones.
        """
        if not tasks:
            return set()
        _, late = await asyncio.wait(tasks, timeout=self._left(self._all_seconds if until_end else self._seconds))
        for task in late:
            task.cancel()
        if late:
            _, stuck = await asyncio.wait(late, timeout=max(MIN_SECONDS, self._left(self._all_seconds)))
            if stuck:
                log.error("background work does not end; report it", tasks=len(stuck))
        return late

    async def close(self, *closings: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Runs what gives something back, all at the same time; whether all of it has succeeded by the end."""
        tasks = BackgroundTasks()
        started = [tasks.start(closing()) for closing in closings]
        await tasks.close(self, until_end=True)
        return all(task.done() and not task.cancelled() and task.exception() is None for task in started)

    def _left(self, seconds: float) -> float:
        """How much is left of so many seconds from the beginning."""
        now = time.monotonic()
        self._began = self._began or now
        return max(0.0, self._began + seconds - now)


class BackgroundTasks:
    """Starts tasks and awaits or cancels them at shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result], context: Context | None = None) -> asyncio.Task[Result]:
        """Starts a task, without a context as one of no request; whoever awaits it gets its result or error."""
        task = asyncio.create_task(work, name=getattr(work, "__qualname__", None), context=context or without_request())
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self, stop: StopDeadline | None = None, *, until_end: bool = False) -> None:
        """Waits until all tasks have ended, those that they start meanwhile too; cancels what has not by then. It
        ends in time, whatever they do.
        """
        stop, closed = stop or StopDeadline(), set[asyncio.Task[Any]]()
        while tasks := self._tasks - closed:
            closed |= tasks
            await stop.finish(tasks, until_end=until_end)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        """Logs an error, which nobody may wait for any more; those of an outage are reported where it is noticed."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, ApiError | StoreUnavailable):
            log.error("a background task failed; report it", task=task.get_name(), exc_info=error)


async def gather_or_cancel(*work: Coroutine[Any, Any, Result]) -> list[Result]:
    """The results of work that is done at the same time.

    Where one fails, its error is raised once the others are cancelled and have ended.
    """
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
