"""Faults of the database: each is StoreUnavailable within a bounded time, and the store works again by itself."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import Pool

from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.connection.errors import ConstraintBroken, StoreUnavailable
from store.database import check_schema
from store.orders import orders
from tests.support.store.fixtures import NOW, NewOrders, sqlite_file
from tests.support.store.postgres import Postgres
from tests.support.store.small_requests import BOUND, SHORT, becomes_usable, read, write


@pytest.fixture
async def hasty(url: str) -> AsyncIterator[Store]:
    """A store that waits half a second."""
    store = Store(url, timeouts=SHORT, connections=2)
    yield store
    await store.close()


async def test_all_connections_in_use(hasty: Store) -> None:
    async with hasty.reading(), hasty.reading():
        with pytest.raises(StoreUnavailable, match="all its connections are in use"):
            await read(hasty)
    assert await read(hasty) == 0


async def test_a_writer_that_holds_its_lock_too_long_does_not_stop_the_others(
    url: str, hasty: Store, new_order: NewOrders
) -> None:
    other = Store(url)

    async def rival() -> None:
        async with hasty.transaction() as connection:
            await orders.place(connection, new_order(5), NOW)

    async with other.transaction() as connection:
        await orders.place(connection, new_order(5), NOW)
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(rival(), BOUND)
        assert await read(hasty) == 1  # readers go on
    await other.close()


async def test_writers_of_one_process_queue_and_time_out(hasty: Store) -> None:
    async with hasty.transaction():
        waiting = [asyncio.create_task(write(hasty)) for _ in range(5)]
        outcomes = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), BOUND)
    # SQLite has one writer at a time; PostgreSQL's are not in each other's way
    assert all(outcome is None or isinstance(outcome, StoreUnavailable) for outcome in outcomes)
    await becomes_usable(hasty)


async def test_a_transaction_that_never_ends_is_ended(url: str) -> None:
    store = Store(url, timeouts=SHORT, transaction_seconds=0.5)

    async def never_end() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            await asyncio.Event().wait()

    with pytest.raises(StoreUnavailable, match="did not answer in time"):
        await asyncio.wait_for(never_end(), BOUND)
    assert await read(store) == 0
    await store.close()


@pytest.mark.parametrize("goes_on", [False, True])
async def test_a_failed_statement_is_never_committed_even_if_its_error_was_caught(store: Store, goes_on: bool) -> None:
    async def swallow() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            with pytest.raises(ConstraintBroken):
                await connection.execute(text("INSERT INTO tokens (id) VALUES ('tok_incomplete')"))
            if goes_on:
                await tokens.create(connection, "shop", ["order"], False, None, NOW)

    with pytest.raises(ConstraintBroken):
        await swallow()
    assert await read(store) == 0


async def test_a_bug_in_a_statement_is_not_taken_for_an_outage(store: Store) -> None:
    with pytest.raises(SQLAlchemyError, match="SELEC"):
        async with store.reading() as connection:
            await connection.execute(text("SELEC 1"))
    with pytest.raises(SQLAlchemyError, match="begin"):
        async with store.reading() as connection:
            await connection.begin()


async def test_clients_that_hang_up_at_any_moment_use_up_no_connection(hasty: Store) -> None:
    for number in range(100):
        request = asyncio.create_task(write(hasty) if number % 2 else read(hasty))
        for _ in range(number // 2):
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.gather(request, return_exceptions=True)
    await becomes_usable(hasty)
    async with hasty.reading(), hasty.reading():
        pass


async def test_the_callers_own_errors_are_not_taken_for_the_databases(store: Store) -> None:
    for error in (TimeoutError("mine"), ConnectionError("mine"), OSError("mine")):
        with pytest.raises(type(error), match="mine"):
            async with store.transaction():
                raise error


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
async def test_a_full_disk(store: Store) -> None:
    async with store.transaction() as connection:
        pages = (await connection.execute(text("PRAGMA page_count"))).scalar_one()
        await connection.execute(text(f"PRAGMA max_page_count = {pages}"))

    async def fill() -> None:
        async with store.transaction() as connection:
            for number in range(1000):
                await tokens.create(connection, f"n{number}", ["order"], False, None, NOW)

    with pytest.raises(StoreUnavailable, match="disk of the SQLite file is full"):
        await fill()
    assert await read(store) == 0
    async with store.transaction() as connection:
        await connection.execute(text("PRAGMA max_page_count = 1000000"))
    await write(store)


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
async def test_a_connection_that_is_lost_while_it_is_made(url: str) -> None:
    def lose(connection: Any, record: object) -> None:
        connection.driver_connection.terminate()

    store = Store(url)
    event.listen(Pool, "connect", lose)  # before SQLAlchemy sets the connection up
    try:
        for use in (read, write):
            with pytest.raises(StoreUnavailable, match="the connection was lost"):
                await use(store)
        with pytest.raises(StoreUnavailable, match="the connection was lost"):
            await migrate.upgrade(url)
    finally:
        event.remove(Pool, "connect", lose)
    await write(store)
    await store.close()


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
async def test_a_user_without_rights(url: str, postgres: Postgres) -> None:
    await postgres.execute("DROP ROLE IF EXISTS stranger")
    await postgres.execute("CREATE ROLE stranger LOGIN")
    store = Store(url.replace("://postgres@", "://stranger@"))
    with pytest.raises(StoreUnavailable, match=r"lacks the right to a table .* \(SQLSTATE 42501\)"):
        await read(store)
    await store.close()


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
async def test_a_file_locked_by_another_process(url: str, hasty: Store) -> None:
    with closing(sqlite3.connect(sqlite_file(url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another process holds the write lock"):
            await asyncio.wait_for(write(hasty), BOUND)
        assert await read(hasty) == 0
        other.execute("ROLLBACK")
    await write(hasty)


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
async def test_a_commit_survives_the_loss_of_power(store: Store) -> None:
    async with store.transaction() as connection:
        pragmas = [
            (await connection.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("synchronous", "journal_mode", "foreign_keys")
        ]
    assert pragmas == [2, "wal", 1]  # 2 is FULL


async def test_files_that_are_no_database(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is no database, however long it may be " * 100)
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "file").write_text("")
    for name, cause in {
        "text.db": "not an SQLite database",
        "folder.db": "cannot be opened",
        "file/below.db": "no connection to the address",
    }.items():
        store = Store(f"sqlite:///{tmp_path / name}")
        with pytest.raises(StoreUnavailable, match=cause):
            await check_schema(store)
        await store.close()


async def test_the_folder_of_the_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await migrate.upgrade("sqlite:///var/deep/gear.db")
    assert (tmp_path / "var/deep/gear.db").is_file()
    store = Store("sqlite+aiosqlite:///var/deep/gear.db")
    monkeypatch.chdir("/")
    await write(store)
    await store.close()


async def test_a_file_that_is_removed_or_replaced_takes_no_more_writes(tmp_path: Path) -> None:
    file, aside = tmp_path / "gear.db", tmp_path / "aside.db"
    url = f"sqlite:///{file}"
    await migrate.upgrade(url)
    store = Store(url)
    try:
        assert await read(store) == 0
        file.rename(aside)
        for use in (read, write):
            with pytest.raises(StoreUnavailable, match="removed or replaced"):
                await use(store)
        await migrate.upgrade(url)
        with pytest.raises(StoreUnavailable, match="removed or replaced"):
            await check_schema(store)
        aside.rename(file)
        await check_schema(store)
    finally:
        await store.close()
