"""SQLite's connections: a client that hangs up within a statement leaves no transaction behind, nor its lock."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import text

from store.engine import Store
from store.errors import StoreUnavailable
from tests.real.store.small_requests import SHORT, becomes_usable, read, write

pytestmark = pytest.mark.parametrize("kind", ["sqlite"], indirect=True)

LONG = text(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
    "INSERT INTO signing_keys (name, value, created_at) SELECT 'key ' || i, '', i FROM n"
)
"""A statement that is under way for a while."""


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 50])
async def test_a_client_that_hangs_up_within_a_statement_leaves_nothing(url: str, turns: int) -> None:
    store = Store(url, connections=1)
    begun = asyncio.Event()

    async def abandoned() -> None:
        async with store.transaction() as connection:
            begun.set()
            await connection.execute(LONG)

    request = asyncio.create_task(abandoned())
    await begun.wait()
    for _ in range(turns):
        await asyncio.sleep(0)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    await becomes_usable(store)
    assert await read(store) == 1
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT count(*) FROM signing_keys").fetchone() == (0,)
    await store.close()


async def test_the_lock_is_asked_for_by_the_first_statement_and_the_next_transaction_begins_anew(url: str) -> None:
    store = Store(url, waits=SHORT, connections=1)
    async with store.transaction():
        pass
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another process holds the write lock"):
            await write(store)
        assert await read(store) == 0
    await write(store)
    assert await read(store) == 1
    await store.close()


async def test_a_reader_sees_one_moment_from_its_first_statement_on(store: Store) -> None:
    async with store.reading() as connection:
        counted = text("SELECT count(*) FROM tokens")
        before = (await connection.execute(counted)).scalar_one()
        await write(store)
        assert (await connection.execute(counted)).scalar_one() == before
    assert await read(store) == before + 1
