"""The store's transactions. Every failure of the database is StoreUnavailable."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from cryptography.fernet import MultiFernet
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from store.connection.address import database_address
from store.connection.drivers import DEFAULT_CONNECTIONS, Timeouts, make_engine
from store.connection.errors import FILE_GONE, TOO_SLOW, StoreUnavailable, mapped_errors
from store.connection.sqlite import BEGIN_WRITING, JOURNAL_SECONDS, empty_journal

TRANSACTION_SECONDS: Final = 30.0
"""No transaction lasts longer: a hung database or caller holds no lock for ever. store.outbox relies on it."""

OnTransaction = Callable[[str, float, float], None]
"""Called with `read` or `write`, the seconds for a connection, and the seconds from the begin to the end."""

JOURNAL_TRIES: Final = 20
CLOSE_SECONDS: Final = 2.0


class Store:
    """The orders' database. It belongs to one event loop; opens nothing before the first transaction."""

    def __init__(
        self,
        url: str,
        *,
        timeouts: Timeouts | None = None,
        connections: int | None = DEFAULT_CONNECTIONS,
        transaction_seconds: float = TRANSACTION_SECONDS,
        cipher: MultiFernet | None = None,
        on_transaction: OnTransaction = lambda _kind, _waited, _seconds: None,
    ) -> None:
        """`on_transaction` is told of each transaction that has ended."""
        address = database_address(url)
        self._on_transaction = on_transaction
        self._timeouts = timeouts or Timeouts()
        self._transaction_seconds = min(transaction_seconds, TRANSACTION_SECONDS)
        self._engine = make_engine(address, self._timeouts, connections=connections, cipher=cipher)
        # SQLite takes one writer at a time and makes the others poll. Writers of this process queue here, in
        # order, so that only other processes are polled for.
        self._writer: asyncio.Lock | None = None
        self._file: Path | None = None
        self._erased = False  # whether the write-ahead log holds what was erased
        self._inode: int | None = None
        if address.get_backend_name() == "sqlite":
            self._file = Path(address.database or "")
            self._writer = asyncio.Lock()
            self._writing = self._engine.execution_options(begin=BEGIN_WRITING)
            self._reading = self._engine
        else:
            # named, because a database may have another default: rivals read what the one they waited for has committed
            self._writing = self._engine.execution_options(isolation_level="READ COMMITTED")
            # SQLite's readers see one moment; PostgreSQL's shall too
            self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that writes: committed at the end of the block, rolled back on any error.

        Raises StoreUnavailable (nothing was kept, unless the commit's own answer was lost). A statement that failed
        fails the whole block, also where its error was caught; ItemTaken is not such a failure.
        """
        began = time.monotonic()
        async with self._turn(), self._session(self._writing, "write", began) as connection:
            yield connection

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that reads: everything in the block sees one and the same moment."""
        async with self._session(self._reading, "read", time.monotonic()) as connection:
            yield connection

    @property
    def sync_engine(self) -> Engine:
        """The engine, for whoever observes its statements."""
        return self._engine.sync_engine

    async def empty_journal(self, *, erased: bool = True) -> bool:
        """After something was `erased`: empties SQLite's write-ahead log, which still has it; whether nothing is left.

        Where a reader was in the way, the next call tries again.
        """
        if self._file is None:
            return True
        self._erased = self._erased or erased
        for _ in range(JOURNAL_TRIES if self._erased else 0):
            with mapped_errors():
                self._erased = not await asyncio.to_thread(empty_journal, self._file)
            if not self._erased:
                break
            await asyncio.sleep(JOURNAL_SECONDS)
        return not self._erased

    async def close(self) -> None:
        """Closes every connection; the store is not to be used afterwards.

        Each is closed in good order, one after the other; after CLOSE_SECONDS those that are left are cut off.
        """
        until = asyncio.get_running_loop().time() + CLOSE_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    return await self._engine.dispose()

    def _check_file(self) -> None:
        """Raises StoreUnavailable where the SQLite file was removed or replaced since it was opened.

        The open one still takes writes then, and all of them are lost when this process ends.
        """
        if self._file is None:
            return
        try:
            inode = self._file.stat().st_ino
        except FileNotFoundError:
            raise StoreUnavailable(FILE_GONE) from None
        self._inode = self._inode or inode
        if inode != self._inode:
            raise StoreUnavailable(FILE_GONE)

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        if self._writer is None:
            yield
            return
        try:
            async with asyncio.timeout(self._timeouts.lock):
                await self._writer.acquire()
        except TimeoutError:
            raise StoreUnavailable("too many writers wait for the SQLite file") from None
        try:
            yield
        finally:
            self._writer.release()

    @asynccontextmanager
    async def _session(self, engine: AsyncEngine, kind: str, began: float) -> AsyncIterator[AsyncConnection]:
        """A connection within a transaction. Errors of statements are mapped where they happen
        (store.connection.drivers), so what the caller's own code raises passes through untouched.

        A failed statement ends the transaction even where the caller caught its error: both databases may have
        rolled back by then, and would answer a COMMIT as if all were well.
        """
        failures: list[BaseException] = []
        deadline = asyncio.timeout(self._transaction_seconds)
        connected = None
        try:
            async with deadline, AsyncExitStack() as stack:
                connection = await _begin(stack, engine, failures)
                connected = time.monotonic()
                self._check_file()
                yield connection
                if failures:
                    raise failures[0]
        except TimeoutError:
            if deadline.expired():
                raise StoreUnavailable(TOO_SLOW) from None
            raise
        except SQLAlchemyError as error:
            if failures and failures[0] is not error:  # the statements after the failed one only say that it failed
                raise failures[0] from None
            raise
        finally:
            ended = time.monotonic()
            self._on_transaction(kind, (connected or ended) - began, ended - (connected or ended))


async def _begin(stack: AsyncExitStack, engine: AsyncEngine, failures: list[BaseException]) -> AsyncConnection:
    with mapped_errors():
        connection = await stack.enter_async_context(engine.connect())
        await connection.execution_options(failures=failures)
        await stack.enter_async_context(connection.begin())
    return connection
