"""Faults of the database: each is StoreUnavailable within a bounded time, and the store works again by itself."""

import asyncio
import signal
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from store import migrate, orders, tokens
from store.drivers import Waits
from store.engine import Store
from store.errors import ConstraintBroken, StoreUnavailable
from tests.real.store.conftest import NOW, NewOrders, PostgresServer, start_postgres

SHORT = Waits(connect=0.5, lock=0.5, statement=0.5)
BOUND = 30.0
"""Seconds. Far above what SHORT allows, far below for ever: the machine may be busy."""


async def write(store: Store) -> None:
    async with store.transaction() as connection:
        await tokens.create(connection, "shop", ["order"], False, None, NOW)


async def read(store: Store) -> int:
    async with store.reading() as connection:
        return len(await tokens.list_all(connection))


async def becomes_usable(store: Store) -> None:
    """Waits until the store works again; nobody helps it."""
    async with asyncio.timeout(BOUND):
        while True:
            try:
                await write(store)
            except StoreUnavailable:
                await asyncio.sleep(0.05)
            else:
                return


@pytest.fixture
async def hasty(url: str) -> AsyncIterator[Store]:
    """A store that waits half a second."""
    store = Store(url, waits=SHORT, connections=2)
    yield store
    await store.close()


@pytest.fixture(scope="module")
async def own_postgres() -> PostgresServer:
    """A server that a test may stop."""
    server = start_postgres()
    await migrate.upgrade(server.url("postgres"))
    return server


@pytest.fixture
async def on_own(own_postgres: PostgresServer) -> AsyncIterator[Store]:
    """A hasty store on that server, with a connection open."""
    store = Store(own_postgres.url("postgres"), waits=SHORT, connections=2)
    await write(store)
    yield store
    await store.close()


def send(server: PostgresServer, what: signal.Signals) -> None:
    postmaster = server.process.get_postmaster_info().process
    for process in [postmaster, *postmaster.children(recursive=True)]:
        process.send_signal(what)


@contextmanager
def thawed_at_last(server: PostgresServer) -> Iterator[None]:
    """Within it a server may be stopped with SIGSTOP: it neither answers nor ends."""
    try:
        yield
    finally:
        send(server, signal.SIGCONT)


async def end_backend(server: PostgresServer, connection: AsyncConnection) -> None:
    """Has the server drop the connection."""
    backend = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    await server.execute(f"SELECT pg_terminate_backend({backend})")


async def test_a_stopped_postgresql_is_unavailable_and_then_works_again(
    own_postgres: PostgresServer, on_own: Store
) -> None:
    own_postgres.process.stop()
    for attempt in (write, read):
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(attempt(on_own), BOUND)
    with pytest.raises(StoreUnavailable):
        await on_own.check()
    await asyncio.to_thread(own_postgres.process.ensure_postgres_running)
    await becomes_usable(on_own)
    await on_own.check()


async def test_a_restart_between_two_requests_is_not_noticed(own_postgres: PostgresServer, on_own: Store) -> None:
    own_postgres.process.stop()
    await asyncio.to_thread(own_postgres.process.ensure_postgres_running)
    await write(on_own)


async def test_a_postgresql_that_goes_away_within_a_transaction(own_postgres: PostgresServer, on_own: Store) -> None:
    before = await read(on_own)

    async def swallow_the_loss() -> None:
        async with on_own.transaction() as connection:
            await tokens.create(connection, "lost", ["order"], False, None, NOW)
            await end_backend(own_postgres, connection)
            with pytest.raises(StoreUnavailable):
                await tokens.list_all(connection)

    with pytest.raises(StoreUnavailable):
        await swallow_the_loss()
    assert await read(on_own) == before


async def test_a_lost_commit_is_never_taken_for_a_success(own_postgres: PostgresServer, on_own: Store) -> None:
    before = await read(on_own)

    async def cut_before_commit() -> None:
        async with on_own.transaction() as connection:
            await tokens.create(connection, "lost", ["order"], False, None, NOW)
            await end_backend(own_postgres, connection)

    with pytest.raises(StoreUnavailable):
        await cut_before_commit()
    assert await read(on_own) == before


async def test_a_hung_postgresql_is_unavailable_in_bounded_time(own_postgres: PostgresServer, on_own: Store) -> None:
    with thawed_at_last(own_postgres):
        send(own_postgres, signal.SIGSTOP)
        for _ in range(3):  # kept connections first, then new ones
            with pytest.raises(StoreUnavailable):
                await asyncio.wait_for(write(on_own), BOUND)
    await becomes_usable(on_own)


@pytest.mark.parametrize("moment", ["statement", "commit"])
async def test_a_postgresql_that_hangs_within_a_transaction(own_postgres: PostgresServer, moment: str) -> None:
    store = Store(own_postgres.url("postgres"), waits=SHORT, connections=1, transaction_seconds=1.0)

    async def hang() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            send(own_postgres, signal.SIGSTOP)
            if moment == "statement":
                await tokens.list_all(connection)

    with thawed_at_last(own_postgres), pytest.raises(StoreUnavailable):
        await asyncio.wait_for(hang(), BOUND)
    await becomes_usable(store)
    await store.close()


async def test_nobody_listens_there() -> None:
    for url in ("postgresql://gear:s3cret@127.0.0.1:1/gear", "postgresql://gear:s3cret@name.invalid/gear"):
        store = Store(url, waits=SHORT)
        with pytest.raises(StoreUnavailable, match="no connection to the address in GEAR_DATABASE_URL") as caught:
            await store.check()
        assert "s3cret" not in repr(caught.value) + repr(vars(store))
        with pytest.raises(StoreUnavailable):
            await migrate.upgrade(url)
        await store.close()


async def test_a_database_that_does_not_exist(own_postgres: PostgresServer) -> None:
    store = Store(own_postgres.url("nowhere"), waits=SHORT)
    with pytest.raises(StoreUnavailable, match="no database of the name"):
        await store.check()
    await store.close()


async def test_a_server_that_accepts_and_never_answers() -> None:
    accepted: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    store = Store(f"postgresql://gear:s3cret@127.0.0.1:{port}/gear", waits=SHORT)
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(store.check(), BOUND)
    await store.close()
    for writer in accepted:
        writer.close()
    silent.close()
    await silent.wait_closed()


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


async def test_writers_of_one_process_queue_and_give_up_in_time(hasty: Store) -> None:
    async with hasty.transaction():
        waiting = [asyncio.create_task(write(hasty)) for _ in range(5)]
        outcomes = await asyncio.wait_for(asyncio.gather(*waiting, return_exceptions=True), BOUND)
    # SQLite has one writer at a time; PostgreSQL's are not in each other's way
    assert all(outcome is None or isinstance(outcome, StoreUnavailable) for outcome in outcomes)
    await becomes_usable(hasty)


async def test_a_transaction_that_never_ends_is_ended(url: str) -> None:
    store = Store(url, waits=SHORT, transaction_seconds=0.5)

    async def never_end() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            await asyncio.Event().wait()

    with pytest.raises(StoreUnavailable, match="did not answer in time"):
        await asyncio.wait_for(never_end(), BOUND)
    assert await read(store) == 0
    await store.close()


async def test_a_failed_statement_is_never_committed_even_if_its_error_was_caught(store: Store) -> None:
    async def swallow() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            with pytest.raises(ConstraintBroken):
                await connection.execute(text("INSERT INTO tokens (id) VALUES ('tok_incomplete')"))

    with pytest.raises(ConstraintBroken):
        await swallow()
    assert await read(store) == 0


async def test_the_callers_own_errors_are_not_taken_for_the_databases(store: Store) -> None:
    for error in (TimeoutError("mine"), ConnectionError("mine"), OSError("mine")):
        with pytest.raises(type(error), match="mine"):
            async with store.transaction():
                raise error


def sqlite_file(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


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
        found = [
            (await connection.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("synchronous", "journal_mode", "foreign_keys")
        ]
    assert found == [2, "wal", 1]  # 2 is FULL


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
            await store.check()
        await store.close()


async def test_the_folder_of_the_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await migrate.upgrade("sqlite:///var/deep/gear.db")
    assert (tmp_path / "var/deep/gear.db").is_file()
    store = Store("sqlite+aiosqlite:///var/deep/gear.db")
    monkeypatch.chdir("/")
    await write(store)
    await store.close()
