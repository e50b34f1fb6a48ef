"""SQLAlchemy engines for SQLite and PostgreSQL, with their connection settings and timeouts."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from cryptography.fernet import MultiFernet
from sqlalchemy import event
from sqlalchemy.engine import URL, Connection, ExceptionContext
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from store.connection import postgres, sqlite
from store.connection.encryption import CIPHERS
from store.connection.errors import READ_ONLY, map_driver_error

DEFAULT_CONNECTIONS: Final = 10


@dataclass(frozen=True)
class Timeouts:
    """Timeouts in seconds.

    connect: for a connection, from the server or from the pool; lock: for SQLite's write lock; statement: for
    PostgreSQL's answer to one statement (its lock waits included); turn: that a writer on SQLite blocks the event loop.
    """

    connect: float = 5.0
    lock: float = 5.0
    statement: float = 5.0
    turn: float = sqlite.TURN_SECONDS


def make_engine(
    address: URL,
    timeouts: Timeouts,
    *,
    connections: int | None = None,
    foreign_keys: bool = True,
    cipher: MultiFernet | None = None,
) -> AsyncEngine:
    """An engine that opens nothing yet; without `connections` it has no pool.

    `foreign_keys=False` is for migrations on SQLite, which rebuild tables that others refer to.
    Values never appear in its error texts.
    """
    pool: dict[str, Any] = {"poolclass": NullPool}
    if connections is not None:
        pool = {"pool_size": connections, "max_overflow": 0, "pool_timeout": timeouts.connect}
    if address.get_backend_name() == "sqlite":
        connect = partial(sqlite.connect, Path(address.database or ""), timeouts.lock, timeouts.turn)
        engine = create_async_engine(address, hide_parameters=True, async_creator=connect, **pool)
        _prepare_sqlite(engine, foreign_keys)
    else:
        address, arguments = postgres.connect_args(address, timeouts.connect, timeouts.statement)
        engine = create_async_engine(
            address, hide_parameters=True, pool_pre_ping=connections is not None, connect_args=arguments, **pool
        )
    event.listen(engine.sync_engine, "handle_error", _map_error)
    if cipher is not None:
        CIPHERS[engine.dialect] = cipher
    return engine


def _prepare_sqlite(engine: AsyncEngine, foreign_keys: bool) -> None:
    """Sets each new connection up, and begins transactions as the caller says.

    FULL: an acknowledged order survives the loss of power (https://www.sqlite.org/pragma.html#pragma_synchronous).
    secure_delete: what is erased is overwritten, whatever the library's default is.
    """

    def set_up(connection: Any, record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.execute(f"PRAGMA foreign_keys = {'ON' if foreign_keys else 'OFF'}")
        cursor.close()

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    event.listen(engine.sync_engine, "connect", set_up)
    event.listen(engine.sync_engine, "begin", begin)


def _map_error(context: ExceptionContext) -> None:
    """Raises the store's error for a statement, a commit or a ping that failed.

    The connection's option `failures` is a list that store.connection.engine reads before it commits.
    """
    if context.is_pre_ping:  # the pool replaces the connection, nobody is to hear of it
        return
    error = context.sqlalchemy_exception or context.original_exception
    mapped = map_driver_error(error)
    if getattr(getattr(error, "orig", None), "sqlstate", None) == READ_ONLY:
        context.is_disconnect = True  # it was the primary once: the next connection looks for the one that is
    if context.connection is not None:
        context.connection.get_execution_options().get("failures", []).append(mapped or error)
    if mapped is not None:
        raise mapped from None
