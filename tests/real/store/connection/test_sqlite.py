"""SQLite's connections: an order awaits no thread for short statements, and nobody waits for long ones."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from store.auth import tokens
from store.connection.drivers import Timeouts
from store.connection.engine import Store
from tests.support.services.event_loop import turns
from tests.support.store.fixtures import NOW, sqlite_file
from tests.support.store.small_requests import BOUND, read, write

SLOW = text("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(*) FROM n")


pytestmark = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)


async def test_a_writer_gives_way_to_nobody_within_a_turn(url: str) -> None:
    store = Store(url, timeouts=Timeouts(turn=BOUND))  # no statement outlasts it, however busy the machine is
    async with turns() as counted, store.transaction() as connection:
        before = counted()
        for number in range(10):
            await tokens.create(connection, f"shop {number}", ["order"], False, None, NOW)
        assert counted() - before <= 10  # one for each statement at the very most; a thread takes hundreds
    await store.close()


async def test_a_long_writer_lets_others_have_their_turn(store: Store) -> None:
    async with turns() as counted, store.transaction() as connection:
        before = counted()
        for number in range(500):
            await tokens.create(connection, f"shop {number}", ["order"], False, None, NOW)
        assert counted() - before >= 3


async def test_nobody_waits_for_a_slow_statement_of_a_writer(store: Store) -> None:
    """A write too: it cannot be interrupted and run again, since SQLite rolls the whole transaction back then."""
    async with turns() as counted, store.transaction() as connection:
        await connection.exec_driver_sql("CREATE TEMPORARY TABLE slow (i INTEGER)")
        for statement in (SLOW, text(f"INSERT INTO slow {SLOW.text}")):
            before = counted()
            await connection.execute(statement)
            assert counted() - before > 100
        assert (await connection.exec_driver_sql("SELECT i FROM slow")).scalar_one() == 1_000_000


async def test_nobody_waits_for_a_long_reader(store: Store) -> None:
    async with turns() as counted, store.reading() as connection:
        before = counted()
        assert (await connection.execute(SLOW)).scalar_one() == 1_000_000
        assert counted() - before > 100


async def test_nobody_waits_for_a_lock_but_the_writer(url: str, store: Store) -> None:
    with closing(sqlite3.connect(sqlite_file(url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with turns() as counted, asyncio.timeout(BOUND):
            writer = asyncio.create_task(write(store))
            while counted() <= 100:
                await asyncio.wait({writer}, timeout=0.2)
            assert not writer.done()
            other.execute("ROLLBACK")
            await writer
    assert await read(store) == 1


async def test_a_commit_whose_client_hangs_up_is_all_there_or_not_at_all(store: Store) -> None:
    async def two(number: int) -> None:
        async with store.transaction() as connection:
            await tokens.create(connection, f"first {number}", ["order"], False, None, NOW)
            await tokens.create(connection, f"second {number}", ["order"], False, None, NOW)

    for number in range(30):
        client = asyncio.create_task(two(number))
        for _ in range(number):
            await asyncio.sleep(0)
        client.cancel()
        await asyncio.gather(client, return_exceptions=True)
        assert await read(store) % 2 == 0
    await two(30)
    assert await read(store) >= 2


async def test_a_reader_that_is_cancelled_again_and_again_takes_nobody_with_it(store: Store) -> None:
    async def slow() -> None:
        async with store.reading() as connection:
            await connection.execute(SLOW)

    for _ in range(3):
        reader = asyncio.create_task(slow())
        for _ in range(4):  # the last ones come while its connection is being closed
            await asyncio.sleep(0.02)
            reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
    await write(store)
    assert await read(store) == 1
