"""Outages of PostgreSQL: stopped, restarted, hung or unreachable, each is StoreUnavailable until it is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from store import migrate
from store.auth import tokens
from store.connection.engine import CLOSE_SECONDS, Store
from store.connection.errors import StoreUnavailable
from store.database import check_schema
from tests.support.faults.name_server import NameServer
from tests.support.store.fixtures import NOW
from tests.support.store.postgres import Postgres, running_postgres
from tests.support.store.small_requests import BOUND, SHORT, becomes_usable, read, write


@pytest.fixture(scope="module")
async def own_postgres() -> AsyncIterator[Postgres]:
    """A server that a test may stop."""
    with running_postgres() as server:
        await migrate.upgrade(server.url("postgres"))
        yield server


@pytest.fixture
async def on_own(own_postgres: Postgres) -> AsyncIterator[Store]:
    """A hasty store on that server, with a connection open."""
    store = Store(own_postgres.url("postgres"), timeouts=SHORT, connections=2)
    await write(store)
    yield store
    await store.close()


async def end_backend(server: Postgres, connection: AsyncConnection) -> None:
    """Has the server drop the connection."""
    backend = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
    await server.execute(f"SELECT pg_terminate_backend({backend})")


async def test_a_stopped_postgresql_is_unavailable_and_then_works_again(own_postgres: Postgres, on_own: Store) -> None:
    own_postgres.process.stop()
    for attempt in (write, read):
        with pytest.raises(StoreUnavailable):
            await asyncio.wait_for(attempt(on_own), BOUND)
    with pytest.raises(StoreUnavailable):
        await check_schema(on_own)
    await asyncio.to_thread(own_postgres.process.ensure_postgres_running)
    await becomes_usable(on_own)
    await check_schema(on_own)


async def test_a_restart_between_two_requests_is_not_noticed(own_postgres: Postgres, on_own: Store) -> None:
    own_postgres.process.stop()
    await asyncio.to_thread(own_postgres.process.ensure_postgres_running)
    await write(on_own)


async def test_a_postgresql_that_goes_away_within_a_transaction(own_postgres: Postgres, on_own: Store) -> None:
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


async def test_a_lost_commit_is_never_taken_for_a_success(own_postgres: Postgres, on_own: Store) -> None:
    before = await read(on_own)

    async def cut_before_commit() -> None:
        async with on_own.transaction() as connection:
            await tokens.create(connection, "lost", ["order"], False, None, NOW)
            await end_backend(own_postgres, connection)

    with pytest.raises(StoreUnavailable):
        await cut_before_commit()
    assert await read(on_own) == before


async def test_a_hung_postgresql_is_unavailable_in_bounded_time(own_postgres: Postgres, on_own: Store) -> None:
    with own_postgres.thawed_at_last():
        own_postgres.suspend()
        for _ in range(3):  # kept connections first, then new ones
            with pytest.raises(StoreUnavailable):
                await asyncio.wait_for(write(on_own), BOUND)
    await becomes_usable(on_own)


async def test_closing_a_store_whose_database_hangs_takes_a_bounded_time(own_postgres: Postgres) -> None:
    store = Store(own_postgres.url("postgres"), connections=10)
    async with AsyncExitStack() as stack:
        for _ in range(10):
            await stack.enter_async_context(store.reading())
    with own_postgres.thawed_at_last():
        own_postgres.suspend()
        async with asyncio.timeout(CLOSE_SECONDS + 15):  # one after the other they would take 50 seconds
            await store.close()


async def test_a_name_server_that_does_not_respond_holds_one_thread(name_server: NameServer) -> None:
    name_server.fall_silent()
    store = Store("postgresql+asyncpg://gear@database.example/gear", timeouts=SHORT, connections=2)
    try:
        for _ in range(4):
            with pytest.raises(StoreUnavailable):
                await asyncio.wait_for(read(store), BOUND)
        assert name_server.lookups == ["name-lookup"], "the event loop's threads are for others"
    finally:
        await store.close()


async def test_a_host_whose_name_server_does_not_respond_leaves_the_next_one_its_time(
    own_postgres: Postgres, name_server: NameServer
) -> None:
    name_server.fall_silent("database.example")
    hosts = f"host=database.example,{own_postgres.folder}&port=5432,5432"
    store = Store(f"postgresql://postgres@/postgres?{hosts}", timeouts=SHORT, connections=1)
    try:
        await asyncio.wait_for(write(store), BOUND)
        assert name_server.lookups == ["name-lookup"]
    finally:
        await store.close()


@pytest.mark.parametrize("stage", ["statement", "commit"])
async def test_a_postgresql_that_hangs_within_a_transaction(own_postgres: Postgres, stage: str) -> None:
    store = Store(own_postgres.url("postgres"), timeouts=SHORT, connections=1, transaction_seconds=1.0)

    async def hang() -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, "shop", ["order"], False, None, NOW)
            own_postgres.suspend()
            if stage == "statement":
                await tokens.list_all(connection)

    with own_postgres.thawed_at_last(), pytest.raises(StoreUnavailable):
        await asyncio.wait_for(hang(), BOUND)
    await becomes_usable(store)
    await store.close()


async def test_nobody_listens_there() -> None:
    for url in ("postgresql://gear:s3cret@127.0.0.1:1/gear", "postgresql://gear:s3cret@name.invalid/gear"):
        store = Store(url, timeouts=SHORT)
        with pytest.raises(StoreUnavailable, match="no connection to the address in GEAR_DATABASE_URL") as caught:
            await check_schema(store)
        assert "s3cret" not in repr(caught.value) + repr(vars(store))
        with pytest.raises(StoreUnavailable):
            await migrate.upgrade(url)
        await store.close()


async def test_a_database_that_does_not_exist(own_postgres: Postgres) -> None:
    store = Store(own_postgres.url("nowhere"), timeouts=SHORT)
    with pytest.raises(StoreUnavailable, match="no database of the name"):
        await check_schema(store)
    await store.close()


async def test_a_server_that_accepts_and_never_answers() -> None:
    accepted: list[asyncio.StreamWriter] = []
    silent = await asyncio.start_server(lambda _, writer: accepted.append(writer), "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    store = Store(f"postgresql://gear:s3cret@127.0.0.1:{port}/gear", timeouts=SHORT)
    with pytest.raises(StoreUnavailable):
        await asyncio.wait_for(check_schema(store), BOUND)
    await store.close()
    for writer in accepted:
        writer.close()
    silent.close()
    await silent.wait_closed()
