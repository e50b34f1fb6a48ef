"""Rounds: work that is to be done again and again goes in, a task that does it while the app lives comes out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

from store.connection.errors import StoreUnavailable

AFTER_A_FAULT_SECONDS: Final = 5.0
STOP_SECONDS: Final = 5.0
FEW: Final = 5
FEW_WAIT_SECONDS: Final = 0.25
MANY_WAIT_SECONDS: Final = 0.05
"""A batch costs its transactions and its request, however few are in it: five pay for theirs, fewer wait for company
(docs/decisions/0039). A first callback may take a second and a mask two, one of which is the index's."""

log = structlog.get_logger("gear.api")


class Rounds:
    """Does its work, sleeps as long as the work says, and is woken early by `wake`.

    `once_more` has the work done once more after `stop`, for what was committed just then; `after_a_fault` are the
    seconds of rest after a fault of ours.
    """

    def __init__(
        self,
        name: str,
        work: Callable[[], Awaitable[float]],
        *,
        once_more: bool = False,
        after_a_fault: float = AFTER_A_FAULT_SECONDS,
    ) -> None:
        self._name = name
        self._work = work
        self._once_more = once_more
        self._after_a_fault = after_a_fault
        self._woken = asyncio.Event()
        self.called = False
        """Whether the round under way was asked for by `wake`, and has not just come round."""
        self._stopping = False
        self._outage = False

    def wake(self) -> None:
        """There may be work: look at once."""
        self._woken.set()

    def stop(self) -> None:
        """Ends the work after the round that is under way."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Works until `stop`. A fault of ours is logged and ends a round, not the work."""
        while not self._stopping:
            await self._around()
        if self._once_more:
            await self._around()

    async def _around(self) -> None:
        self.called = self._woken.is_set()
        self._woken.clear()
        around = asyncio.create_task(self._round())
        try:
            await asyncio.wait({around})
        finally:
            around.cancel()
        if (fault := around.exception()) is not None:
            log.error("background work met a fault and starts again; report it", work=self._name, exc_info=fault)
        await self._pause(self._after_a_fault if fault is not None else around.result())

    async def _round(self) -> float:
        try:
            pause = await self._work()
        except StoreUnavailable as error:
            if not self._outage:
                log.warning("background work waits for the store", work=self._name, cause=error.cause)
            self._outage = True
            return AFTER_A_FAULT_SECONDS
        if self._outage:
            log.info("background work goes on", work=self._name)
        self._outage = False
        return pause

    async def _pause(self, seconds: float) -> None:
        if self._stopping:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass


async def company(taken: int) -> None:
    """Waits until what follows a batch of so many is a batch too; not to be woken from."""
    await asyncio.sleep(FEW_WAIT_SECONDS if taken < FEW else MANY_WAIT_SECONDS)


@asynccontextmanager
async def working(name: str, work: Callable[[], Awaitable[float]]) -> AsyncIterator[Rounds]:
    """The work while the block lasts; `work` gives the seconds until its next round."""
    rounds = Rounds(name, work)
    task = asyncio.create_task(rounds.run())
    try:
        yield rounds
    finally:
        rounds.stop()
        _, late = await asyncio.wait({task}, timeout=STOP_SECONDS)
        if late:
            task.cancel()
            await asyncio.wait({task})
