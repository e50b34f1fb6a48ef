"""SQLite's connections: a file in, connections that cross to their thread once for each statement out.

aiosqlite crosses once for the cursor, once for the statement, once for its rows and once to close the cursor, and
SQLAlchemy as often for a BEGIN: each time costs about as much as a statement of ours.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

import aiosqlite
from aiosqlite.context import Result

_ROWS_AT_ONCE: Final = 64  # aiosqlite's own default, for what nobody here does: going through a cursor row by row


class Connection(aiosqlite.Connection):
    """A connection of aiosqlite; `begin` says how the transaction of its next statement begins."""

    def __init__(self, connector: Callable[[], sqlite3.Connection]) -> None:
        super().__init__(connector, _ROWS_AT_ONCE)
        self._thread.daemon = True  # or a process could not end before it is closed
        self._beginning: str | None = None
        self._settled = True
        # aiosqlite's way into its thread, which has no types
        self._cross: Callable[..., Awaitable[Any]] = self._execute

    def begin(self, statement: str) -> None:
        """Has this BEGIN run right before the next statement, in the same crossing."""
        self._beginning = statement

    def cursor(self) -> "Result[aiosqlite.Cursor]":
        """A cursor that keeps the rows of its statement."""
        return Result(self._cursor())

    async def run(self, cursor: sqlite3.Cursor, statement: Callable[[], object]) -> list[Any]:
        """The rows of a statement of this cursor."""
        beginning, self._beginning = self._beginning, None
        self._settled = False
        rows: list[Any] = await self._cross(_run, cursor, beginning, statement)
        self._settled = True
        return rows

    async def commit(self) -> None:
        """Commits; nothing where no statement has begun a transaction."""
        self._beginning = None
        if self._settled and not self.in_transaction:
            return
        self._settled = False
        await super().commit()
        self._settled = True

    async def rollback(self) -> None:
        """Rolls back; nothing where no statement has begun a transaction, nor may begin one yet: that of a caller who
        was cancelled may be under way.
        """
        self._beginning = None
        if self._settled and not self.in_transaction:
            return
        self._settled = False
        await super().rollback()
        self._settled = True

    async def _cursor(self) -> aiosqlite.Cursor:
        return Cursor(self, self._conn.cursor())


class Cursor(aiosqlite.Cursor):
    """A cursor that has its statement's rows as soon as the statement has run, and needs no closing."""

    def __init__(self, connection: Connection, cursor: sqlite3.Cursor) -> None:
        super().__init__(connection, cursor)
        self._connection = connection
        self._rows: list[Any] = []

    async def execute(self, sql: str, parameters: Any = None) -> "Cursor":
        """Runs one statement."""
        self._rows = await self._connection.run(self._cursor, partial(self._cursor.execute, sql, parameters or ()))
        return self

    async def executemany(self, sql: str, parameters: Iterable[Any]) -> "Cursor":
        """Runs one statement for each of the parameters."""
        self._rows = await self._connection.run(self._cursor, partial(self._cursor.executemany, sql, parameters))
        return self

    async def fetchall(self) -> list[Any]:
        """The rows that are left: all of them, once."""
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        """Nothing is left to be closed: SQLite's statement ended with its last row."""


async def connect(file: Path, seconds: float) -> Connection:
    """A connection to the file, whose folder is made where it is missing; waits so long for another process's lock."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # no BEGIN of the driver's own; the thread is that of the connection, and a statement is left to nobody else
    opened = partial(sqlite3.connect, file, timeout=seconds, isolation_level=None, check_same_thread=False)
    connection = Connection(opened)
    await connection
    return connection


def _run(cursor: sqlite3.Cursor, beginning: str | None, statement: Callable[[], object]) -> list[Any]:
    if beginning is not None:
        cursor.connection.execute(beginning)
    statement()
    return cursor.fetchall()
