"""Masking: what the store has for the index in, items hidden from and shown to searches out, while the app lives.

An order's transaction leaves a row in the store's outbox; here it is told to the index. Nothing is lost by a crash
or an outage: a row stays until the index knows its state, and any worker takes it up.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import structlog
from opensearchpy.exceptions import TransportError

from api.errors import ApiError
from api.orders.worker import Rounds, company
from api.services import Services
from store.connection.errors import StoreUnavailable
from store.outbox import index_outbox
from store.outbox.index_outbox import MaskWork

POLL_SECONDS = 0.5  # a row left by a crash or by another worker must be told within the 2 seconds of the contract
BATCH = 250  # told by one request and noted by one transaction: more than any second brings to one database
TELL_SECONDS = 2.5  # whatever the deadline of searches is: a row waits for its next try, not for this one
LEASE_SECONDS = 5.0  # telling and noting it; a row that a crash left leased is taken over after this
FIRST_RETRY_SECONDS = 0.25
MOST_RETRY_SECONDS = 2.0
STOP_SECONDS = 5.0
THE_INDEX = "the index"

log = structlog.get_logger("gear.api")


class Masking:
    """Tells the index which items active orders bind."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._rounds = Rounds("masking", self._batches, once_more=True, after_a_fault=POLL_SECONDS)
        self._outages: set[str] = set()
        self._followers: list[Callable[[], None]] = []

    def wake(self) -> None:
        """An order changed, there may be work: look at once."""
        self._rounds.wake()
        for follower in self._followers:
            follower()

    def wakes_too(self, follower: Callable[[], None]) -> None:
        """Has another worker woken whenever this one is."""
        self._followers.append(follower)

    async def run(self) -> None:
        """Works until `stop`. A fault of ours is logged and ends a round, not the work."""
        await self._rounds.run()

    def stop(self) -> None:
        """Ends the work after one more round, which takes up what was committed just now."""
        self._rounds.stop()

    async def _batches(self) -> float:
        """Tells a batch to the index; the seconds until the next one."""
        taken = await self._round()
        if 0 < taken < BATCH:
            await company(taken)
        # what this process changes wakes this; what others change may go on coming
        more = taken == BATCH or (taken and not self._rounds.called)
        return 0.0 if more else POLL_SECONDS

    async def _round(self) -> int:
        """Takes a batch and tells it to the index; how many rows it was."""
        store = self._services.store
        try:
            if not self._rounds.called:  # else it is known that there is something
                async with store.reading() as connection:
                    behind = await index_outbox.any_behind(connection)
                if not behind:
                    self._works("the store")
                    return 0
            async with store.transaction() as connection:
                batch = await index_outbox.lease(connection, datetime.now(UTC), LEASE_SECONDS, BATCH)
            told = await self._tell(batch)
            if batch:
                await self._note(batch, told)
            self._works("the store")
        except StoreUnavailable as error:
            self._fails("the store", error)
            return 0
        return len(batch) if all(told) else 0

    async def _tell(self, batch: list[MaskWork]) -> list[bool]:
        """For each whether the index knows it now; an item that the index does not have needs no mask."""
        if not batch:
            return []
        try:
            async with asyncio.timeout(TELL_SECONDS):
                told = await self._services.engine.mark(batch)
        except (ApiError, TransportError, TimeoutError) as error:
            self._fails(THE_INDEX, error)
            return [False] * len(batch)
        if all(told):
            self._works(THE_INDEX)
        else:
            refused = sorted({work.platform for work, done in zip(batch, told, strict=True) if not done})
            self._fails(THE_INDEX, f"no mark was taken for platform {', '.join(map(str, refused))}")
        return told

    async def _note(self, batch: list[MaskWork], told: list[bool]) -> None:
        async with self._services.store.transaction() as connection:
            now = datetime.now(UTC)
            known = [work for work, done in zip(batch, told, strict=True) if done]
            await index_outbox.applied(connection, known)
            for work, done in zip(batch, told, strict=True):
                if not done:
                    await index_outbox.failed(connection, work, now, retry_seconds(work.attempts))
                elif work.attempts > 1 or now >= work.leased_until:
                    # An earlier try that timed out may reach the index after this one, and another worker may have
                    # told it something newer before: have it told what is true then once more.
                    await index_outbox.touch(connection, work.platform, [work.item], now)
                    self._rounds.wake()

    def _fails(self, part: str, error: Exception | str) -> None:
        if part not in self._outages:
            self._outages.add(part)
            log.warning("masking waits for an outage to end", part=part, cause=str(error)[:300] or repr(error))

    def _works(self, part: str) -> None:
        if part in self._outages:
            self._outages.remove(part)
            log.info("masking works again", part=part)


def retry_seconds(attempts: int) -> float:
    """How long to leave a row alone after so many attempts in a row."""
    return min(MOST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** min(attempts - 1, 10))


@asynccontextmanager
async def masking(services: Services) -> AsyncIterator[Masking]:
    """Masking while the block lasts; at its end what is under way is finished, for five seconds at most."""
    running = Masking(services)
    task = asyncio.create_task(running.run())
    try:
        yield running
    finally:
        running.stop()
        _, late = await asyncio.wait({task}, timeout=STOP_SECONDS)
        if late:
            task.cancel()
            await asyncio.wait({task})
