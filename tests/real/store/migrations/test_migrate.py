"""Migrations: a database keeps its data, by several processes at once, and ends as schema.py says."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from store import migrate, schema
from store.auth import tokens
from store.bound_items import bound_among
from store.connection.address import database_address
from store.connection.engine import Store
from store.connection.errors import ConstraintBroken, StoreUnavailable, UnknownRevision
from store.database import check_schema
from store.orders import orders
from store.records import Order
from tests.support.store.fixtures import NOW
from tests.support.store.new_order import new_order


async def inspected(url: str, look: Callable[[Connection], Any]) -> Any:
    engine = create_async_engine(database_address(url))
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(look)
    finally:
        await engine.dispose()


def constraints(connection: Connection) -> dict[str, Any]:
    """What Alembic's comparison passes over: checks, and the conditions and uniqueness of indexes."""
    inspector = inspect(connection)
    return {
        table: {
            "checks": sorted((check["name"], check["sqltext"]) for check in inspector.get_check_constraints(table)),
            "indexes": sorted(
                (
                    index["name"],
                    index["column_names"],
                    index["unique"],
                    [str(condition) for condition in index.get("dialect_options", {}).values()],
                )
                for index in inspector.get_indexes(table)
            ),
            "primary": inspector.get_pk_constraint(table),
            "foreign": inspector.get_foreign_keys(table),
        }
        for table in sorted(schema.metadata.tables)
    }


async def fill(url: str) -> Order:
    store = Store(url)
    try:
        async with store.transaction() as connection:
            created = await tokens.create(connection, "shop", ["order"], False, None, NOW)
            new = new_order(created.token.id, 5, callback_url="https://shop.example/hook")
            return await orders.place(connection, new, NOW)
    finally:
        await store.close()


async def test_the_migrated_schema_is_the_one_the_code_uses(empty_url: str) -> None:
    await migrate.upgrade(empty_url)

    def differences(connection: Connection) -> Any:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        return compare_metadata(context, schema.metadata)

    assert await inspected(empty_url, differences) == []
    by_migration = await inspected(empty_url, constraints)
    await inspected(empty_url, schema.metadata.drop_all)
    await inspected(empty_url, schema.metadata.create_all)
    assert await inspected(empty_url, constraints) == by_migration


async def test_migrating_again_changes_nothing(empty_url: str) -> None:
    assert await migrate.current(empty_url) is None
    await migrate.upgrade(empty_url)
    assert await migrate.current(empty_url) == migrate.head() == schema.REVISION
    placed = await fill(empty_url)
    await migrate.upgrade(empty_url)  # again: nothing to do, nothing lost
    store = Store(empty_url)
    async with store.reading() as connection:
        assert await orders.get(connection, placed.id) == placed
    await store.close()


async def test_several_processes_may_migrate_at_once(empty_url: str) -> None:
    program = "import asyncio, sys; from store import migrate; asyncio.run(migrate.upgrade(sys.argv[1]))"
    command = (sys.executable, "-W", "error", "-c", program, empty_url)
    processes = [
        await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    ended = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0], ended
    assert await migrate.current(empty_url) == migrate.head()


async def test_a_store_without_its_schema_says_how_to_get_it(empty_url: str) -> None:
    store = Store(empty_url)
    with pytest.raises(StoreUnavailable, match="run gear-api migrate"):
        await check_schema(store)
    with pytest.raises(StoreUnavailable, match="run gear-api migrate"):
        async with store.reading() as connection:
            await bound_among(connection, 730, [5])
    await migrate.upgrade(empty_url)
    await check_schema(store)
    async with store.transaction() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    with pytest.raises(StoreUnavailable, match="run gear-api migrate"):
        await check_schema(store)
    await store.close()


async def test_a_database_of_a_newer_version_is_left_alone_and_served(empty_url: str) -> None:
    """The new version's migration runs first, and the processes are replaced one after the other."""
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    await check_schema(store)
    await store.close()
    await migrate.upgrade(empty_url)
    with pytest.raises(UnknownRevision, match="schema revision '9999' is not among those of this version"):
        await migrate.upgrade(empty_url, "0020")
    assert await migrate.current(empty_url) == "9999"
    with pytest.raises(UnknownRevision, match="schema revision '0815'"):
        await migrate.upgrade(empty_url, "0815")


async def test_a_migration_does_not_seal_broken_references(tmp_path: Path) -> None:
    file = tmp_path / "gear.db"
    await migrate.upgrade(f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO order_events (order_id, n, state, at) VALUES ('ord_unknown', 1, 'created', 0)")
        connection.commit()
    with pytest.raises(ConstraintBroken, match="foreign keys of order_events"):
        await migrate.upgrade(f"sqlite:///{file}")


async def test_a_package_without_migrations_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "migrations/versions").mkdir(parents=True)
    monkeypatch.setattr(migrate, "_FOLDER", tmp_path / "migrations")
    with pytest.raises(FileNotFoundError, match="the package is incomplete, install it again"):
        migrate.head()


async def test_migrations_find_themselves_in_a_folder_with_a_percent_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "100%" / "migrations"
    folder.parent.mkdir()
    folder.symlink_to(Path(migrate.__file__).parent / "migrations")
    monkeypatch.setattr(migrate, "_FOLDER", folder)
    assert migrate.head() == schema.REVISION
