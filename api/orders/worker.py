"""Background work: the loop of index sync, callbacks, retention and sandbox moves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import structlog

from store.connection.errors import StoreUnavailable

RETRY_SECONDS: Final = 5.0
STOP_SECONDS: Final = 5.0
CANCEL_SECONDS: Final = 2.0
SMALL_BATCH: Final = 5
SMALL_BATCH_LINGER_SECONDS: Final = 0.25
LINGER_SECONDS: Final = 0.05
"""A batch costs its transactions and its request, however small it is: after fewer than five rows the worker waits
longer for more (docs/decisions/0039). A first callback may take a second, and an index update two, one of which is the
index's refresh."""

log = structlog.get_logger("gear.api")


class OutageLog:
    """Logs the beginning and the end of each outage of a dependency once."""

    def __init__(self, work: str) -> None:
        self._work = work
        self._outages: set[str] = set()

    def begin(self, dependency: str, cause: str) -> None:
        """The dependency failed; logged unless it is known."""
        if dependency not in self._outages:
            self._outages.add(dependency)
            log.warning(
                "background work waits for an outage to end", work=self._work, dependency=dependency, cause=cause[:300]
            )

    def end(self, dependency: str) -> None:
        """The dependency works; logged if it did not before."""
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
        self._stopping = False
        self.outages = OutageLog(name)
        self.woken = False
        """Whether `wake` started the current run, and not the end of a pause."""

    def wake(self) -> None:
        """Starts the next run at once: there may be work."""
        self._wake.set()

    def stop(self) -> None:
        """Ends the loop after the current run."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Works until `stop`."""
        while not self._stopping:
            pause = await self._run_once()
            if not self._stopping:
                await self._sleep(pause)
        if self._drain:
            await self._run_once()

    async def _run_once(self) -> float:
        self.woken = self._wake.is_set()
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

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass


@asynccontextmanager
async def running(worker: PeriodicWorker, stop_seconds: float = STOP_SECONDS) -> AsyncIterator[PeriodicWorker]:
    """Runs the worker while the block lasts, and lets its last run end in `stop_seconds`."""
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await finish({task}, stop_seconds)


async def finish(
    tasks: set[asyncio.Task[Any]], seconds: float, cancel_seconds: float = CANCEL_SECONDS
) -> set[asyncio.Task[Any]]:
    """Waits for the tasks, then cancels those that are left and waits for their cleanup; returns the cancelled ones."""
    if not tasks:
        return set()
    _, late = await asyncio.wait(tasks, timeout=seconds)
    for task in late:
        task.cancel()
    if late:
        _, stuck = await asyncio.wait(late, timeout=cancel_seconds)
        if stuck:
            log.error("background work does not end; report it", tasks=len(stuck))
    return late


async def linger(batch_size: int) -> None:
    """Pauses after a batch that was not full, so that the next one is larger; `wake` does not end this."""
    await asyncio.sleep(SMALL_BATCH_LINGER_SECONDS if batch_size < SMALL_BATCH else LINGER_SECONDS)
