"""Group commit: attempts that end at about the same time are recorded in one transaction.

A commit waits for the disk, and on SQLite for every other writer; one for each callback would cost as much as the
orders themselves.
"""

import asyncio
from typing import Final

from api.background import finish
from store.connection.engine import Store
from store.outbox import attempts
from store.outbox.attempts import FinishedAttempt

LINGER_SECONDS: Final = 0.02
MAX_BATCH: Final = 50  # one transaction: SQLite's lock is free again well within a tenth of a second


class AttemptRecorder:
    """Records finished attempts in batches, one commit after the other."""

    def __init__(self, store: Store, max_attempts: int) -> None:
        self._store = store
        self._max_attempts = max_attempts
        self._committing = asyncio.Lock()
        self._open: tuple[list[FinishedAttempt], asyncio.Task[bool]] | None = None
        self._commits: set[asyncio.Task[bool]] = set()

    async def record(self, attempt: FinishedAttempt) -> bool:
        """Returns after the commit, and whether the batch made another event due; raises StoreUnavailable where the
        attempt may not be recorded.
        """
        if self._open is None or len(self._open[0]) == MAX_BATCH:
            self._open = self._open_batch()
        batch, commit = self._open
        batch.append(attempt)
        return await asyncio.shield(commit)

    async def close(self, seconds: float) -> None:
        """Lets the commits under way end in so many seconds."""
        await finish(set(self._commits), seconds)

    def _open_batch(self) -> tuple[list[FinishedAttempt], asyncio.Task[bool]]:
        batch: list[FinishedAttempt] = []
        commit = asyncio.create_task(self._commit(batch))
        self._commits.add(commit)
        commit.add_done_callback(self._commits.discard)
        return batch, commit

    async def _commit(self, batch: list[FinishedAttempt]) -> bool:
        await asyncio.sleep(LINGER_SECONDS)
        async with self._committing:  # meanwhile the batch grows
            if self._open is not None and self._open[0] is batch:
                self._open = None
            async with self._store.transaction() as connection:
                return await attempts.record(connection, batch, self._max_attempts)
