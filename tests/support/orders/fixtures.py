"""A shop on each database: a running app, a real index with a few items, no order yet."""

import secrets
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from api.settings import Settings
from store import migrate
from store.connection.drivers import Timeouts
from store.connection.engine import Store
from tests.support.app import settings_for
from tests.support.indices import new_prefix
from tests.support.orders.desk import Desk, desk_at
from tests.support.orders.shop import Shop, load, opened
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres


@pytest.fixture(scope="session")
async def template(postgres: Postgres) -> str:
    """The name of a migrated database, to be copied."""
    await postgres.execute("CREATE DATABASE orders_template")
    await migrate.upgrade(postgres.url("orders_template"))
    return "orders_template"


@pytest.fixture
async def database(postgres: Postgres, template: str) -> AsyncIterator[str]:
    """The name of a migrated PostgreSQL database without rows."""
    name = f"orders_{secrets.token_hex(4)}"
    await postgres.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield name
    await postgres.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def shop_prefix(opensearch_url: str) -> Iterator[str]:
    """A prefix of index names that tests use one after the other; each finds the items as they are on offer."""
    with new_prefix(opensearch_url) as prefix:
        yield prefix


@pytest.fixture
async def postgres_settings(
    opensearch_url: str, shop_prefix: str, tmp_path: Path, postgres: Postgres, database: str
) -> Settings:
    """Settings of an app with items on PostgreSQL; the fee is 5 per cent."""
    url = postgres.url(database)
    settings = settings_for(opensearch_url, shop_prefix, tmp_path, fee_rate="0.05", database_url=url)
    await load(settings)
    return settings


@pytest.fixture
async def sqlite_settings(opensearch_url: str, shop_prefix: str, tmp_path: Path) -> Settings:
    """Settings of an app with items on SQLite; the fee is 5 per cent."""
    settings = settings_for(opensearch_url, shop_prefix, tmp_path, fee_rate="0.05")
    await load(settings)
    return settings


@pytest.fixture(params=["sqlite_settings", "postgres_settings"])
def settings(request: pytest.FixtureRequest) -> Settings:
    """Settings of an app with items, on each database."""
    settings: Settings = request.getfixturevalue(request.param)
    return settings


@pytest.fixture
async def shop(settings: Settings) -> AsyncIterator[Shop]:
    """A running app on each database."""
    async with opened(settings) as shop:
        yield shop


@pytest.fixture
async def small_shop(sqlite_settings: Settings) -> AsyncIterator[Shop]:
    """A running app on SQLite."""
    async with opened(sqlite_settings) as shop:
        yield shop


@pytest.fixture(scope="module")
async def refusing_shop(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    """A running app on SQLite for all tests of a file that order nothing: what it refuses leaves nothing behind."""
    with new_prefix(opensearch_url) as prefix:
        settings = settings_for(opensearch_url, prefix, tmp_path_factory.mktemp("refusing"), fee_rate="0.05")
        await load(settings)
        async with opened(settings) as shop:
            yield shop
            assert (await shop.get("/v1/orders")).json()["orders"] == []


@pytest.fixture
async def hasty_shop(sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shop]:
    """A running app on SQLite that waits half a second for its lock."""
    monkeypatch.setattr("api.services.Store", partial(Store, timeouts=Timeouts(lock=0.5)))
    async with opened(sqlite_settings) as shop:
        yield shop


@pytest.fixture
async def sqlite_url(tmp_path: Path) -> str:
    """The address of a migrated SQLite file without rows."""
    url = f"sqlite+aiosqlite:///{tmp_path}/gear.db"
    return await migrated(url)


@pytest.fixture
def postgres_database_url(postgres: Postgres, database: str) -> str:
    """The address of a migrated PostgreSQL database without rows."""
    return postgres.url(database)


@pytest.fixture(params=["sqlite_url", "postgres_database_url"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The address of a migrated database without rows, of each kind."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
async def desk(database_url: str) -> AsyncIterator[Desk]:
    """A client's token in each kind of database, and no app."""
    async with desk_at(database_url) as desk:
        yield desk
