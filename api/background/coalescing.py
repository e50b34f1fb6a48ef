"""Work that several callers share: one run for all who ask at once, and waiting for one moment."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic

from api.background.tasks import BackgroundTasks, Result


class SingleFlight(Generic[Result]):
    """Runs work once at a time; callers that arrive meanwhile share the run in flight."""

    def __init__(self, tasks: BackgroundTasks, work: Callable[[], Coroutine[Any, Any, Result]]) -> None:
        self._tasks = tasks
        self._work = work
        self._task: asyncio.Task[Result] | None = None

    async def result(self, seconds: float | None = None, absent: type[Exception] | tuple[()] = ()) -> Result | None:
        """The result; None where it is not there in time or the work fails with `absent`. Raises its other errors."""
        if self._task is None or self._task.done():
            self._task = self._tasks.start(self._work())
        task = self._task  # another caller may begin the next run before this one wakes
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done or isinstance(task.exception(), absent):
            return None
        return task.result()


class CoalescedRuns(Generic[Result]):
    """Runs work that must start after the call; callers that arrive before the next run share it."""

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
