"""SQLite's connections: a file in; what SQLAlchemy's asynchronous dialect asks of a driver out, with few waits.

Each wait for a thread lasts until the event loop comes round, which takes milliseconds under searches. What a writer
does is small, rows by their keys, and is done at once where it is asked for. Only what may last goes to a thread: a
commit, which waits for the disk, and what is read, with all its rows (docs/decisions/0038).
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

BEGIN_WRITING: Final = "BEGIN IMMEDIATE"
AGAIN_SECONDS: Final = 0.01
"""Until a lock that another process holds is tried again."""
TURN_SECONDS: Final = 0.002
"""A writer lets the event loop come round after so long: a batch of five hundred rows must not stop the searches."""

_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)

Made = TypeVar("Made")


async def connect(file: Path, lock_seconds: float) -> "SqliteConnection":
    """A connection that waits so long for a lock; makes the file and its folder. Raises OSError and sqlite3.Error."""
    thread = ThreadPoolExecutor(1, "sqlite")

    def opened() -> sqlite3.Connection:
        file.parent.mkdir(parents=True, exist_ok=True)
        # no transactions that the driver begins, and locks are waited for below
        return sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)

    return SqliteConnection(await _done(thread, opened), thread, lock_seconds)


class SqliteConnection:
    """A connection for one task at a time."""

    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor, lock_seconds: float) -> None:
        self._connection = connection  # SQLAlchemy looks whether there is one
        self._thread = thread
        self._lock_seconds = lock_seconds
        self._writing = False
        self._turn = 0.0

    def cursor(self) -> "SqliteCursor":
        """A cursor, which is used within a context."""
        return SqliteCursor(self, self._connection.cursor())

    async def run(self, statement: str, work: Callable[[], Made]) -> Made:
        """Does a statement's work, which is tried again while another process locks it out; raises sqlite3.Error."""
        until = time.monotonic() + self._lock_seconds
        while True:
            try:
                if not (self._writing or statement.startswith("BEGIN")):
                    return await _done(self._thread, work)
                if self._writing:
                    await self._take_turns()
                made = work()
                if statement == BEGIN_WRITING:
                    self._writing, self._turn = True, time.monotonic()
                return made
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode not in _LOCKED or time.monotonic() > until:
                    raise
            await asyncio.sleep(AGAIN_SECONDS)

    async def _take_turns(self) -> None:
        if time.monotonic() - self._turn > TURN_SECONDS:
            await asyncio.sleep(0)
            self._turn = time.monotonic()

    async def commit(self) -> None:
        """Ends the transaction; what it wrote is on the disk then."""
        if self._writing:
            await _done(self._thread, self._connection.commit)
        else:
            self._connection.commit()
        self._writing = False

    async def rollback(self) -> None:
        """Ends the transaction without a trace."""
        self._writing = False
        self._connection.rollback()

    async def close(self) -> None:
        """Closes the connection; the last one of a file writes its journal into it."""
        try:
            await _done(self._thread, self._connection.close)
        finally:
            self._thread.shutdown(wait=False)

    def stop(self) -> None:
        """Closes the connection where nobody can wait: after what its thread still does; beside it, Python crashes."""
        with suppress(RuntimeError):  # `close` has been there
            self._thread.submit(self._connection.close)
        self._thread.shutdown(wait=False)

    async def create_function(self, *arguments: Any, **options: Any) -> None:
        """As sqlite3's."""
        self._connection.create_function(*arguments, **options)


class SqliteCursor:
    """A statement and all its rows."""

    def __init__(self, connection: SqliteConnection, cursor: sqlite3.Cursor) -> None:
        self._of = connection
        self._cursor = cursor
        self._rows: list[Any] = []
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    @property
    def description(self) -> Any:
        """As sqlite3's."""
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        """As sqlite3's."""
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """As sqlite3's."""
        return self._cursor.lastrowid

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Runs a statement and takes its rows; raises sqlite3.Error."""
        self._rows = await self._of.run(statement, lambda: self._cursor.execute(statement, parameters).fetchall())

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Runs a statement for each of these; raises sqlite3.Error."""
        await self._of.run(statement, lambda: self._cursor.executemany(statement, parameters))

    async def fetchall(self) -> list[Any]:
        """The rows."""
        return self._rows

    async def close(self) -> None:
        """Lets go of the statement."""
        self._cursor.close()


async def _done(thread: ThreadPoolExecutor, work: Callable[[], Made]) -> Made:
    """What the work gives. Who is cancelled waits for its end: the connection is free for others only then."""
    doing = asyncio.get_running_loop().run_in_executor(thread, work)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise
