"""Noting: attempts that have ended in, kept in the store out; those that end together share one transaction.

A commit waits for the disk, and on SQLite for every other writer. One for each callback would cost as much as the
orders themselves.
"""

import asyncio
from typing import Final

from store.connection.engine import Store
from store.outbox import attempts
from store.outbox.attempts import Note

TOGETHER_SECONDS: Final = 0.02
TOGETHER: Final = 50  # a transaction: the lock of SQLite is free again well within a tenth of a second


class Notes:
    """Keeps notes: those of one moment together, and what comes while they are written together after them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[tuple[Note, asyncio.Future[bool]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def keep(self, note: Note) -> bool:
        """Whether another event became due by it or by those kept with it, once the note is committed; raises
        StoreUnavailable where it may not be.
        """
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((note, kept))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        return await kept

    async def close(self, seconds: float) -> None:
        """Waits for what is being written, but no longer than this."""
        if self._writing is not None:
            await asyncio.wait({self._writing}, timeout=seconds)

    async def _write(self) -> None:
        while self._waiting:
            await asyncio.sleep(TOGETHER_SECONDS)
            batch, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
            [ended] = await asyncio.gather(self._commit([note for note, _ in batch]), return_exceptions=True)
            for _, kept in batch:
                if kept.done():
                    continue  # whoever waited for it was ended
                if isinstance(ended, BaseException):
                    kept.set_exception(ended)
                else:
                    kept.set_result(ended)

    async def _commit(self, notes: list[Note]) -> bool:
        async with self._store.transaction() as connection:
            return await attempts.keep(connection, notes)
