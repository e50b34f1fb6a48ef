"""Index sync: publishes to the search index which items active orders bind.

The transaction of an order leaves a row in the index outbox. The row stays until the index has its state, and any
worker takes it up, so no crash and no outage loses one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime
from itertools import groupby

from sqlalchemy.ext.asyncio import AsyncConnection

from api.background.failing_rows import SET_ASIDE_SECONDS, backoff_seconds, isolate_failures
from api.background.workers import PeriodicWorker, linger
from api.errors import ApiError
from api.log import log
from store.connection.engine import Store
from store.outbox import index_outbox
from store.outbox.index_outbox import MAX_FAILURES, IndexUpdate

POLL_SECONDS = 0.5  # a row left by a crash or by another worker is published within the 2 seconds of the contract
BATCH = 250  # one request and one transaction: more than one database receives in a second
PUBLISH_SECONDS = 2.5  # independent of the deadline of searches: a row waits for its next attempt, not for this one
LEASE_SECONDS = 5.0  # publishing and recording; after this another worker takes over a row that a crash left leased
FIRST_RETRY_SECONDS = 0.25
MAX_RETRY_SECONDS = 2.0
MAX_FAILURE_RETRY_SECONDS = 30.0  # of a row that fails alone: it is set aside after seven minutes


Publish = Callable[[Sequence[IndexUpdate]], Awaitable[list[bool]]]
"""Sends updates to the index; for each whether the index has it. An item that the index lacks needs no update."""


class IndexSync:
    """The worker that empties the index outbox."""

    def __init__(
        self, store: Store, publish: Publish, *, max_failure_retry_seconds: float = MAX_FAILURE_RETRY_SECONDS
    ) -> None:
        self._store = store
        self._publish = publish
        self._max_failure_retry_seconds = max_failure_retry_seconds
        self._resumed_at: float | None = None
        self._since_success: set[tuple[int, int]] = set()
        self.worker = PeriodicWorker("index sync", self._run_once, drain=True, retry_seconds=POLL_SECONDS)

    async def _run_once(self) -> float:
        """Publishes a batch; returns the seconds until the next one."""
        published = await self._publish_batch()
        if 0 < published < BATCH:
            await linger(published)
        # this process wakes the worker for its own changes; those of others may go on
        more = published == BATCH or (published and not self.worker.was_woken)
        return 0.0 if more else POLL_SECONDS

    async def _publish_batch(self) -> int:
        """Leases a batch and publishes it; returns its size, 0 where a row was refused."""
        now = time.monotonic()
        if self._resumed_at is None or now - self._resumed_at > SET_ASIDE_SECONDS:
            async with self._store.transaction() as connection:  # a process that starts may lack the fault: all tries
                await index_outbox.resume(connection, 0 if self._resumed_at is None else MAX_FAILURES - 1)
            self._resumed_at = now
        if not self.worker.was_woken:  # whoever wakes it has left a row
            async with self._store.reading() as connection:
                if not await index_outbox.any_pending(connection):
                    return 0
        async with self._store.transaction() as connection:
            batch = await index_outbox.lease(connection, datetime.now(UTC), LEASE_SECONDS, BATCH)
        if not batch:
            return 0
        accepted, failed = await self._published(batch)
        await self.record(batch, accepted, failed)
        return len(batch) if len(accepted) == len(batch) else 0

    async def _published(self, batch: list[IndexUpdate]) -> tuple[set[IndexUpdate], set[IndexUpdate]]:
        """The rows that the index has now, and those that failed alone, by a fault of ours. Raises what all rows fail
        with.
        """
        accepted, failed = set[IndexUpdate](), set[IndexUpdate]()
        updates = {(row.platform, row.item): row for row in batch}

        async def publish(items: Sequence[tuple[int, int]]) -> list[IndexUpdate]:
            rows = [updates[item] for item in items]
            return [row for row, is_there in zip(rows, await self._publish(rows), strict=True) if is_there]

        try:
            async with asyncio.timeout(PUBLISH_SECONDS):
                isolated = isolate_failures(list(updates), publish, self._since_success, ApiError, TimeoutError)
                async for items, outcome in isolated:
                    if isinstance(outcome, Exception):
                        row = updates[items[0]]
                        failed.add(row)
                        report = {**_identity(row), "failures": row.failures + 1}
                        log.error("an index update fails; report it", **report, exc_info=outcome)
                    else:
                        accepted.update(outcome)
        except (ApiError, TimeoutError) as error:
            self.worker.outages.begin("index", str(error) or repr(error))
            return accepted, failed
        refused = sorted({row.platform for row in batch if row not in accepted and row not in failed})
        if refused:
            self.worker.outages.begin("index", f"updates refused for platform {', '.join(map(str, refused))}")
        elif accepted:
            self.worker.outages.end("index")
        return accepted, failed

    async def record(
        self, batch: list[IndexUpdate], accepted: Collection[IndexUpdate], failed: Collection[IndexUpdate]
    ) -> None:
        """Records for each row that the index has it, or when it is tried again."""
        async with self._store.transaction() as connection:
            now = datetime.now(UTC)
            # in the batch's order, which is that of all writers of these rows: no two wait for each other's
            for is_accepted, rows in groupby(batch, accepted.__contains__):
                if is_accepted:
                    await self._record_accepted(connection, list(rows), now)
                    continue
                for row in rows:
                    pause = backoff_seconds(FIRST_RETRY_SECONDS, row.attempts, MAX_RETRY_SECONDS)
                    if row in failed:
                        pause = backoff_seconds(FIRST_RETRY_SECONDS, row.failures + 1, self._max_failure_retry_seconds)
                    await index_outbox.mark_failed(connection, row, now, pause, failures=int(row in failed))
        for row in failed:
            if row.failures + 1 >= MAX_FAILURES:
                log.error(
                    "an index update is set aside for an hour or until its item changes or a process starts; report it",
                    **_identity(row),
                )

    async def _record_accepted(self, connection: AsyncConnection, rows: Sequence[IndexUpdate], now: datetime) -> None:
        await index_outbox.mark_applied(connection, rows, now)
        for row in rows:
            if row.attempts > 1 or now >= row.leased_until:
                # An earlier attempt that timed out may reach the index after this one, and another worker may
                # have published something newer in between: publish the present state once more.
                await index_outbox.enqueue(connection, row.platform, [row.item], now)
                self.worker.wake()


def _identity(row: IndexUpdate) -> dict[str, int]:
    return {"platform": row.platform, "item": row.item}
