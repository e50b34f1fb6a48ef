"""Periodic workers: work that runs again and again in the background, and pauses between its batches."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

from api.background.failing_rows import RETRY_SECONDS
from api.background.tasks import StopDeadline
from api.log import log
from store.connection.errors import StoreUnavailable

BEGIN_SECONDS: Final = 0.05  # between the first runs of two workers: most find the connection of the one before free
PAUSE_SECONDS: Final = 0.02  # between two batches of writes, at least
SMALL_BATCH: Final = 5
SMALL_BATCH_LINGER_SECONDS: Final = 0.25
LINGER_SECONDS: Final = 0.05
"""A batch costs its transactions and its request, however small it is: after fewer than five rows the worker waits
longer for more (docs/decisions/0039). A first callback may take a second, and an index update two, one of which is the
index's refresh."""


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


async def linger(batch_size: int) -> None:
    """Pauses after a batch that was not full, so that the next one is larger; `wake` does not end this."""
    await asyncio.sleep(SMALL_BATCH_LINGER_SECONDS if batch_size < SMALL_BATCH else LINGER_SECONDS)


async def give_way(started: float) -> None:
    """Pauses after a batch of writes that began at `started` (monotonic) for as long as it took: others write then."""
    await asyncio.sleep(max(PAUSE_SECONDS, time.monotonic() - started))
