"""SQLite's connections, for SQLAlchemy's asynchronous dialect.

Every statement runs in the connection's thread. To await it costs a round of the event loop, which takes milliseconds
beside searches, and an order has some fifteen statements; what a writer does takes microseconds each. So the loop
blocks for a writer's statements, each for TURN_SECONDS at most: one that lasts longer is awaited, as commits and all
statements of readers are (docs/decisions/0038).
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

BEGIN_WRITING: Final = "BEGIN IMMEDIATE"
LOCK_RETRY_SECONDS: Final = 0.01
"""Until a lock that another process holds is tried again."""
TURN_SECONDS: Final = 0.002
"""A writer blocks the event loop no longer for one statement, and gives way between two after as long."""
JOURNAL_SECONDS: Final = 0.1
"""Emptying the write-ahead log waits no longer for readers, because writers wait meanwhile."""

_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY)

Result = TypeVar("Result")


async def connect(file: Path, lock_seconds: float, turn_seconds: float) -> "SqliteConnection":
    """Opens a connection that waits this long for a lock; creates the file and its folder for their owner alone.

    Raises OSError and sqlite3.Error.
    """
    thread = ThreadPoolExecutor(1, "sqlite")

    def open_file() -> sqlite3.Connection:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(file)
        # no transactions that the driver begins, and locks are waited for below
        return sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)

    return SqliteConnection(await _finished(thread.submit(open_file)), thread, lock_seconds, turn_seconds)


def _make_private(file: Path) -> None:
    """Creates the file with mode 0600, which SQLite also gives to its journals. A file that everybody may read or write
    is narrowed; the access of a chosen group stays where everybody else has none.
    """
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for path in (file, *(file.with_name(file.name + suffix) for suffix in ("-wal", "-shm"))):
        with suppress(FileNotFoundError, PermissionError):  # not there yet, or another account's
            if path.stat().st_mode & 0o007:
                path.chmod(0o600)


def empty_journal(file: Path) -> bool:
    """Writes all of the write-ahead log into the database and empties it; False where somebody reads or writes."""
    with closing(sqlite3.connect(file, timeout=JOURNAL_SECONDS, isolation_level=None)) as connection:
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


class SqliteConnection:
    """A connection for one task at a time."""

    def __init__(
        self, connection: sqlite3.Connection, thread: ThreadPoolExecutor, lock_seconds: float, turn_seconds: float
    ) -> None:
        self._connection = connection  # SQLAlchemy looks whether there is one
        self._thread = thread
        self._lock_seconds = lock_seconds
        self._turn_seconds = turn_seconds
        self._writing = False
        self._turn_ends = 0.0  # where a writer gives way

    def cursor(self) -> "SqliteCursor":
        return SqliteCursor(self, self._connection.cursor())

    async def run(self, statement: str, work: Callable[[], Result]) -> Result:
        """Runs a statement, again and again while another process locks it out; raises sqlite3.Error."""
        deadline = time.monotonic() + self._lock_seconds
        while True:
            try:
                if not (self._writing or statement.startswith("BEGIN")):
                    return await _finished(self._thread.submit(work))
                result = await self._run_in_turn(work)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode not in _LOCKED or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(LOCK_RETRY_SECONDS)
            else:
                if statement == BEGIN_WRITING:
                    self._writing = True
                    self._start_turn()
                return result

    async def _run_in_turn(self, work: Callable[[], Result]) -> Result:
        """Blocks the event loop for this statement, unless it lasts; lets the loop come round when the turn is over."""
        if self._writing and time.monotonic() >= self._turn_ends:
            await asyncio.sleep(0)
            self._start_turn()
        future = self._thread.submit(work)
        try:
            return future.result(self._turn_seconds)
        except TimeoutError:
            result = await _finished(future)
            self._start_turn()
            return result

    def _start_turn(self) -> None:
        self._turn_ends = time.monotonic() + self._turn_seconds

    async def commit(self) -> None:
        """Ends the transaction; what it wrote is on the disk then."""
        if self._writing:
            await _finished(self._thread.submit(self._connection.commit))
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
            await _finished(self._thread.submit(self._connection.close))
        finally:
            self._thread.shutdown(wait=False)

    def stop(self) -> None:
        """Closes the connection where nobody can wait: after what its thread still does; beside it, Python crashes."""
        with suppress(RuntimeError):  # `close` has been there
            self._thread.submit(self._connection.close)
        self._thread.shutdown(wait=False)

    async def create_function(self, *arguments: Any, **options: Any) -> None:
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
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        return self._cursor.lastrowid

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Runs a statement and takes its rows; raises sqlite3.Error."""
        self._rows = await self._of.run(statement, lambda: self._cursor.execute(statement, parameters).fetchall())

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Runs a statement for each of these; raises sqlite3.Error."""
        await self._of.run(statement, lambda: self._cursor.executemany(statement, parameters))

    async def fetchall(self) -> list[Any]:
        return self._rows

    async def close(self) -> None:
        self._cursor.close()


async def _finished(future: "Future[Result]") -> Result:
    """The thread's result. A cancelled caller waits for its end: the connection is free for others only then."""
    waiting = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await asyncio.wait({waiting})
        raise
