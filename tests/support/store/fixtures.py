"""Databases for the store's tests: a migrated SQLite file and a migrated PostgreSQL database, empty for each test."""

import shutil
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.records import NewOrder
from store.schema import metadata
from tests.support.store import new_order as builder
from tests.support.store.postgres import Postgres

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="session")
async def migrated(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """One migrated database of each kind, by the name of the kind."""
    file = tmp_path_factory.mktemp("store") / "migrated.db"
    urls = {"sqlite": f"sqlite:///{file}", "postgresql": await postgres.new_database("store_tests")}
    for url in urls.values():
        await migrate.upgrade(url)
    return urls


def sqlite_file(url: str) -> Path:
    """The file of an SQLite database."""
    return Path(url.removeprefix("sqlite:///"))


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which database the test runs on; every test of the store's behaviour runs on both."""
    return str(request.param)


@pytest.fixture
async def url(kind: str, migrated: dict[str, str], postgres: Postgres, tmp_path: Path) -> str:
    """A migrated database without rows."""
    if kind == "postgresql":
        await postgres.execute(f"TRUNCATE {', '.join(metadata.tables)}", database="store_tests")
        return migrated[kind]
    copy = tmp_path / "gear.db"
    shutil.copyfile(sqlite_file(migrated[kind]), copy)
    return f"sqlite:///{copy}"


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    """The store on that database."""
    store = Store(url)
    yield store
    await store.close()


@pytest.fixture
async def empty_url(kind: str, postgres: Postgres, tmp_path: Path) -> str:
    """A database without any table."""
    if kind == "postgresql":
        return await postgres.new_database("store_empty")
    return f"sqlite:///{tmp_path / 'empty.db'}"


@pytest.fixture
async def token(store: Store) -> tokens.CreatedToken:
    """A token to place orders with."""
    async with store.transaction() as connection:
        return await tokens.create(connection, "shop", ["order", "search"], False, None, NOW)


NewOrders = Callable[[int], NewOrder]


@pytest.fixture
def new_order(token: tokens.CreatedToken) -> NewOrders:
    """Makes an order of an item, with every field set."""
    fields: dict[str, Any] = {
        "item_name": "★ Karambit | Doppler (Factory New)",
        "item_image": "https://images.example/karambit.png",
        "platform_user_id": "76561198000000001",
        "trade_link": "https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=abcdefgh",
        "code": "SPRING",
        "price_minor": 123_456,
        "fee_minor": 789,
        "total_minor": 124_245,
        "utm_source": "newsletter",
        "utm_medium": "email",
        "success_url": "https://shop.example/thanks",
        "failure_url": "https://shop.example/sorry",
        "callback_url": "https://shop.example/hook",
    }
    return lambda item: builder.new_order(token.token.id, item, **fields)
