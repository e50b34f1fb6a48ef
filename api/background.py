"""Owns the tasks that outlive the request which started them, and paces long work."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, Generic, TypeVar

from api.deadline import without_request

STOP_SECONDS = 3.0  # longer than the engine's default deadline

PAUSE_SECONDS = 0.02  # between two batches of writes, at least

Result = TypeVar("Result")


class BackgroundTasks:
    """Starts tasks and awaits or cancels them at shutdown."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result], context: Context | None = None) -> asyncio.Task[Result]:
        """Starts a task, without a context as one of no request; whoever awaits it gets its result or error."""
        task = asyncio.create_task(work, context=context or without_request())
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


class SharedTask(Generic[Result]):
    """Some work of which one run at a time serves all who ask meanwhile."""

    def __init__(self, tasks: BackgroundTasks, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        self._tasks = tasks
        self._work = work
        self._task: asyncio.Task[Result] | None = None

    async def result(self, seconds: float, absent: type[Exception]) -> Result | None:
        """The result; None where it does not come in time or the work fails with `absent`."""
        if self._task is None or self._task.done():
            self._task = self._tasks.start(self._work())
        task = self._task  # another caller may begin the next run before this one wakes
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done or isinstance(task.exception(), absent):
            return None
        return task.result()


class SingleFlight(Generic[Result]):
    """Some work whose result is of a moment after the call; all who call before a run begins share it."""

    def __init__(self, tasks: BackgroundTasks, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        self._tasks = tasks
        self._work = work
        self._running: asyncio.Task[Result] | None = None
        self._next: asyncio.Task[Result] | None = None  # not begun yet: later callers join it

    async def result(self) -> Result:
        """The result of a run that begins after this call; raises as the work does."""
        if self._next is None:
            self._next = self._tasks.start(self._run(self._running))
        return await asyncio.shield(self._next)  # a caller that goes away leaves it to the others

    async def _run(self, previous: asyncio.Task[Result] | None) -> Result:
        if previous is not None:
            await asyncio.wait([previous])
        self._running, self._next = self._next, None
        return await self._work()


class Waiters:
    """Tasks that wait for one moment, each no longer than its own time.

    One that leaves costs the same however many there are: `asyncio.wait`, `asyncio.shield` and `asyncio.Event` look for
    it among all the others.
    """

    def __init__(self) -> None:
        self._futures: set[asyncio.Future[None]] = set()

    def wake(self, *_: object) -> None:
        """Ends the waiting of all; a callback of a future or a task, too."""
        for future in self._futures:
            _end(future)

    async def wait(self, seconds: float) -> None:
        """Returns when woken, and otherwise after so many seconds."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        timer = loop.call_later(seconds, _end, future)
        self._futures.add(future)
        try:
            await future
        finally:
            timer.cancel()
            self._futures.discard(future)


def _end(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


async def give_way(started: float) -> None:
    """Pauses after a batch of writes that began at `started` (monotonic) for as long as it took: others write then."""
    await asyncio.sleep(max(PAUSE_SECONDS, time.monotonic() - started))
