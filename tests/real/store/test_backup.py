"""Backups as docs/operations.md has them: taken while orders are placed, put back, and served from."""

import asyncio
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text

from store import migrate
from store.auth.tokens import CreatedToken
from store.bound_items import bound_items
from store.connection.engine import Store
from store.database import check_schema
from store.orders import idempotency, orders
from store.orders.idempotency import NO_REFUSALS
from store.outbox import redelivery
from tests.support.store.fixtures import NOW, NewOrders
from tests.support.store.postgres import Postgres

BEFORE = 40


@dataclass(frozen=True)
class Backup:
    """How one is taken of the store, and the address of the database that it is put back into."""

    take: Callable[[], None]
    url: str


@pytest.fixture
async def backup(kind: str, postgres: Postgres, url: str, tmp_path: Path) -> Backup:
    """Nothing is there yet."""
    if kind == "postgresql":
        restored = await postgres.new_database("store_restored")
        store = Store(url)
        async with store.reading() as connection:
            query = text("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
            programs = Path((await connection.execute(query)).scalar_one())
        await store.close()
        return Backup(partial(back_up_postgres, postgres, programs, "store_tests", "store_restored"), restored)
    target = tmp_path / "restored.db"
    return Backup(partial(back_up_sqlite, Path(url.removeprefix("sqlite:///")), target), f"sqlite:///{target}")


def back_up_sqlite(source: Path, target: Path) -> None:
    """`.backup` of the shell where it is installed; else the call of SQLite that it is made of."""
    program = shutil.which("sqlite3")
    if program is not None:
        subprocess.run([program, str(source), f".backup {target}"], check=True, capture_output=True)
        return
    with closing(sqlite3.connect(source)) as origin, closing(sqlite3.connect(target)) as copy:
        origin.backup(copy)


def back_up_postgres(server: Postgres, programs: Path, source: str, target: str) -> None:
    """`pg_dump` of the server's own version into `psql`."""
    where = ["--host", str(server.folder), "--username", "postgres"]
    dumped = subprocess.run([str(programs / "pg_dump"), *where, source], check=False, capture_output=True)
    assert dumped.returncode == 0, dumped.stderr.decode()
    command = [str(programs / "psql"), *where, "--quiet", "--set", "ON_ERROR_STOP=1", target]
    subprocess.run(command, input=dumped.stdout, check=True, capture_output=True)


async def test_a_backup_that_is_taken_while_orders_are_placed_can_be_served_from(
    store: Store, backup: Backup, new_order: NewOrders, token: CreatedToken
) -> None:
    placed: list[str] = []

    async def order(item: int) -> None:
        async with store.transaction() as connection:
            assert await idempotency.claim(connection, token.token.id, f"k{item}", "digest", NO_REFUSALS, NOW) is None
            created = await orders.place(connection, new_order(item), NOW)
            await idempotency.save(connection, token.token.id, f"k{item}", created.id, "response")
        placed.append(created.id)

    for item in range(BEFORE):
        await order(item)
    backing_up = asyncio.create_task(asyncio.to_thread(backup.take))
    item = BEFORE
    while not backing_up.done():
        await order(item)
        item += 1
    await backing_up

    await migrate.upgrade(backup.url)  # as the page says; there is nothing to do
    again = Store(backup.url)
    await check_schema(again)
    async with again.transaction() as connection:
        bound = await bound_items(connection, 730, None, 10_000)
        assert bound == list(range(len(bound)))  # all of one moment, and none that was placed before it is missing
        assert BEFORE <= len(bound) <= item
        for number, order_id in enumerate(placed[: len(bound)]):
            assert [event.state for event in await orders.events(connection, order_id)] == ["created"]
            assert [delivery.state for delivery in await redelivery.of_order(connection, order_id)] == ["pending"]
            stored, _ = await idempotency.find(connection, token.token.id, f"k{number}")
            assert stored is not None
            assert stored.order_id == order_id
        await orders.place(connection, new_order(item + 1), NOW)
    await again.close()
