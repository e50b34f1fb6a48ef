"""Background work: tasks that outlive the request which started them, periodic workers, and their one end."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from random import sample
from typing import Any, Final, Generic, TypeVar

from api.current_request import without_request
from api.errors import ApiError
from api.log import log
from store.connection.errors import StoreUnavailable

RETRY_SECONDS: Final = 5.0
MAX_RETRY_SECONDS: Final = 60.0  # of a row that fails alone: it is set aside after six minutes
MAX_FAILURES: Final = 10  # of a row alone
SET_ASIDE_SECONDS: Final = 3_600.0
MAX_FAILED_ROWS: Final = 1_000  # that are remembered: a query leaves them out by name
MAX_FAILED_TOGETHER: Final = 3  # rows that fail while none succeeds: it is no row's fault then
STOP_SECONDS: Final = 5.0  # longer than the engine's default deadline
GIVE_BACK_SECONDS: Final = 5.0
MIN_SECONDS: Final = 0.1  # for whatever ends last, where those before it have used up the time
BEGIN_SECONDS: Final = 0.05  # between the first runs of two workers: most find the connection of the one before free
PAUSE_SECONDS: Final = 0.02  # between two batches of writes, at least
SMALL_BATCH: Final = 5
SMALL_BATCH_LINGER_SECONDS: Final = 0.25
LINGER_SECONDS: Final = 0.05
"""A batch costs its transactions and its request, however small it is: after fewer than five rows the worker waits
longer for more (docs/decisions/0039). A first callback may take a second, and an index update two, one of which is the
index's refresh."""


Result = TypeVar("Result")
Row = TypeVar("Row", bound=Hashable)


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


class OutageLog:
    """Logs the beginning and the end of each outage of a dependency once."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._outages: set[str] = set()

    def begin(self, dependency: str, cause: str) -> None:
        if dependency not in self._outages:
            self._outages.add(dependency)
            log.warning(
                "background work waits for an outage to end", work=self._work, dependency=dependency, cause=cause[:300]
            )

    def end(self, dependency: str) -> None:
        if dependency in self._outages:
            self._outages.remove(dependency)
            log.info("background work goes on", work=self._work, dependency=dependency)


class PeriodicWorker:
    """Runs `work` again and again; `work` returns the seconds until its next run, and `wake` ends that pause.

    `drain` runs it once more after `stop`, for what was committed just before; `retry_seconds` is the pause after an
    outage of the store or an unexpected exception.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[float]],
        *,
        drain: bool = False,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._name = name
        self._work = work
        self._drain = drain
        self._retry_seconds = retry_seconds
        self._wake = asyncio.Event()
        self.is_stopping = False
        self.outages = OutageLog(name)
        self.was_woken = False
        """Whether `wake` started the current run, and not the end of a pause."""

    def wake(self) -> None:
        """Starts the next run at once: there may be work."""
        self._wake.set()

    def stop(self) -> None:
        """Ends the loop after the current run."""
        self.is_stopping = True
        self.wake()

    async def run(self, pause: float = 0.0) -> None:
        """Begins after so many seconds."""
        while not self.is_stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            if not self.is_stopping:
                pause = await self._run_once()
        if self._drain:
            await self._run_once()

    async def _run_once(self) -> float:
        self.was_woken = self._wake.is_set()
        self._wake.clear()
        try:
            pause = await self._work()
        except StoreUnavailable as error:
            self.outages.begin("store", error.cause)
            return self._retry_seconds
        except Exception:
            log.exception("background work failed and is tried again; report it", work=self._name)
            return self._retry_seconds
        self.outages.end("store")
        return pause


@asynccontextmanager
async def running(*workers: PeriodicWorker, stop: StopDeadline | None = None) -> AsyncIterator[None]:
    """Runs the workers while the block lasts, and lets their last runs end, all at the same time.

    They begin one after the other, in their order.
    """
    tasks = {asyncio.create_task(worker.run(place * BEGIN_SECONDS)) for place, worker in enumerate(workers)}
    try:
        yield
    finally:
        for worker in workers:
            worker.stop()
        await (stop or StopDeadline()).finish(tasks)


async def isolate_failures(
    rows: Sequence[Row],
    batch: Callable[[Sequence[Row]], Awaitable[Result]],
    failing: set[Row],
    *outages: type[Exception],
) -> AsyncIterator[tuple[Sequence[Row], Result | Exception]]:
    """Runs a batch, and after an unexpected error each half of it, down to the row that fails alone.

    Yields the parts, with the result of each or the error of its only row. Raises what is no row's fault: `outages`,
    and the error where no row succeeds and MAX_FAILED_TOGETHER have failed since one did. `failing` remembers these.
    """
    parts, failed, has_success = [rows] if rows else [], list[tuple[Sequence[Row], Exception]](), False
    while parts:
        part = parts.pop()
        try:
            outcome = await batch(part)
        except outages:
            raise
        except Exception as error:
            if len(part) > 1:
                middle = len(part) // 2
                # in any order: rows that always fail are not always the first, so that the others have their turn
                parts += sample([part[:middle], part[middle:]], 2)
                continue
            failed.append((part, error))
            if not has_success:
                failing.update(part if len(failing) < MAX_FAILED_TOGETHER else ())
                if len(failing) == MAX_FAILED_TOGETHER and (not parts or len(failed) == MAX_FAILED_TOGETHER):
                    raise
        else:
            has_success = True
            failing.clear()
            yield part, outcome
        while failed and (has_success or not parts):
            yield failed.pop()


class FailingRows(Generic[Row]):
    """Keeps a row that fails by a fault of ours from holding up others, and from being tried for ever.

    It is tried again after ever longer pauses, and after MAX_FAILURES once in SET_ASIDE_SECONDS.
    """

    def __init__(self, work: str, *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._work = work
        self._retry_seconds = retry_seconds
        self._failures: dict[Row, tuple[int, float]] = {}  # how often it failed, and until when it pauses
        self._since_success: set[Row] = set()

    def paused(self) -> list[Row]:
        now = time.monotonic()
        return [row for row, (_, until) in self._failures.items() if now < until]

    def ready(self, rows: Iterable[Row]) -> list[Row]:
        paused = set(self.paused())
        return [row for row in rows if row not in paused]

    async def run(self, rows: Sequence[Row], batch: Callable[[Sequence[Row]], Awaitable[list[Result]]]) -> list[Result]:
        """The results of a batch but for rows that fail alone, which pause. Raises StoreUnavailable, and what all rows
        fail with (`isolate_failures`).
        """
        results = list[Result]()
        async for part, outcome in isolate_failures(rows, batch, self._since_success, StoreUnavailable):
            if isinstance(outcome, Exception):
                self._count(part[0], outcome)
                continue
            results += outcome
            for row in part:
                self._failures.pop(row, None)
        return results

    def _count(self, row: Row, error: Exception) -> None:
        """Counts and logs a failure of the row, which pauses then."""
        failures = self._failures.pop(row, (0, 0.0))[0] + 1
        log.error("a row fails; report it", work=self._work, row=str(row), failures=failures, exc_info=error)
        if failures < MAX_FAILURES:
            pause = backoff_seconds(self._retry_seconds, failures, MAX_RETRY_SECONDS)
        else:
            pause = SET_ASIDE_SECONDS
            log.error("a row is set aside for an hour; report it", work=self._work, row=str(row))
        self._failures[row] = failures, time.monotonic() + pause
        if len(self._failures) > MAX_FAILED_ROWS:
            self._failures.pop(next(iter(self._failures)))


def backoff_seconds(first: float, failures: int, maximum: float) -> float:
    """The pause after so many failures in a row."""
    return min(maximum, first * 2.0 ** min(failures - 1, 10))


async def linger(batch_size: int) -> None:
    """Pauses after a batch that was not full, so that the next one is larger; `wake` does not end this."""
    await asyncio.sleep(SMALL_BATCH_LINGER_SECONDS if batch_size < SMALL_BATCH else LINGER_SECONDS)


async def give_way(started: float) -> None:
    """Pauses after a batch of writes that began at `started` (monotonic) for as long as it took: others write then."""
    await asyncio.sleep(max(PAUSE_SECONDS, time.monotonic() - started))
