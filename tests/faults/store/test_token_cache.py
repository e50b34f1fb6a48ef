"""Known tokens while the store is away: they go on for a while, and a revocation holds as soon as it answers."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import Request
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from api.auth import valid_token
from api.background.tasks import BackgroundTasks
from api.errors import ApiError
from api.token_cache import LOOKUP_SECONDS, TokenCache
from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from tests.support.api.waiting import until
from tests.support.store.migrated import migrated
from tests.support.store.postgres import running_postgres

STALE_SECONDS = 2.0
REQUEST = Request({"type": "http", "headers": []})  # of no web page


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The database's file, which a test moves away."""
    return tmp_path / "gear.db"


@pytest.fixture
async def store(file: Path) -> AsyncIterator[Store]:
    """A store on that file."""
    store = Store(await migrated(f"sqlite:///{file}"))
    yield store
    await store.close()


@pytest.fixture
async def cache(store: Store) -> AsyncIterator[TokenCache]:
    """One that asks the store for each request."""
    tasks = BackgroundTasks()
    yield TokenCache(store, tasks, fresh_seconds=0, stale_seconds=STALE_SECONDS)
    await tasks.close()


async def create(store: Store, expires_at: datetime | None = None) -> tokens.CreatedToken:
    async with store.transaction() as connection:
        return await tokens.create(connection, "shop", ["search"], False, expires_at, datetime.now(UTC))


async def is_refused(cache: TokenCache, token: tokens.CreatedToken) -> bool:
    try:
        await valid_token(REQUEST, cache, token.plaintext, allow_stale=True)
    except ApiError as error:
        return error.code == "unauthorized"
    return False


def hide(file: Path) -> None:
    """Takes the store away."""
    file.rename(file.with_name("away"))


def show(file: Path) -> None:
    """Brings it back."""
    file.with_name("away").rename(file)


async def test_a_known_token_goes_on_without_the_store_for_a_while(cache: TokenCache, store: Store, file: Path) -> None:
    cached, unknown = await create(store), await create(store)
    began = time.monotonic()
    await valid_token(REQUEST, cache, cached.plaintext)
    hide(file)
    for _ in range(5):
        assert (await valid_token(REQUEST, cache, cached.plaintext, allow_stale=True)).id == cached.token.id
    for plaintext, allow_stale in ((cached.plaintext, False), (unknown.plaintext, True)):
        with pytest.raises(StoreUnavailable):
            await valid_token(REQUEST, cache, plaintext, allow_stale=allow_stale)

    async def is_stale() -> bool:
        try:
            await valid_token(REQUEST, cache, cached.plaintext, allow_stale=True)
        except StoreUnavailable:
            return True
        return False

    await until(is_stale)
    assert time.monotonic() - began >= STALE_SECONDS
    show(file)
    assert (await valid_token(REQUEST, cache, cached.plaintext, allow_stale=True)).id == cached.token.id


async def test_a_revocation_holds_as_soon_as_the_store_answers(cache: TokenCache, store: Store, file: Path) -> None:
    token = await create(store)
    await valid_token(REQUEST, cache, token.plaintext)
    async with store.transaction() as connection:
        await tokens.revoke(connection, token.token.id, datetime.now(UTC))
        hide(file)
    assert not await is_refused(cache, token)
    show(file)
    await until(lambda: is_refused(cache, token), seconds=5)


async def test_a_token_expires_without_the_store_too(store: Store, file: Path) -> None:
    tasks = BackgroundTasks()
    cache = TokenCache(store, tasks, fresh_seconds=0)
    expires_at = datetime.now(UTC) + timedelta(seconds=3)
    token = await create(store, expires_at)
    await valid_token(REQUEST, cache, token.plaintext)
    hide(file)
    assert not await is_refused(cache, token)
    await until(lambda: is_refused(cache, token))
    assert datetime.now(UTC) >= expires_at
    await tasks.close()


async def test_requests_with_one_token_that_is_not_cached_share_its_lookup(
    cache: TokenCache, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, lookups = await create(store), list[str]()
    find = tokens.find

    async def counted(connection: AsyncConnection, plaintext: str) -> tokens.Token | None:
        lookups.append(plaintext)
        return await find(connection, plaintext)

    monkeypatch.setattr(tokens, "find", counted)
    requests = [asyncio.create_task(valid_token(REQUEST, cache, token.plaintext)) for _ in range(50)]
    await asyncio.sleep(0)
    requests.pop(0).cancel()  # one goes away
    assert {each.id for each in await asyncio.gather(*requests)} == {token.token.id}
    assert lookups == [token.plaintext]
    with pytest.raises(ApiError, match="not known"):
        await valid_token(REQUEST, cache, "gear_unknown")


async def test_a_connection_that_is_lost_fails_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_postgres() as server:
        await migrate.upgrade(server.url("postgres"))
        store, tasks = Store(server.url("postgres"), connections=2), BackgroundTasks()
        cache = TokenCache(store, tasks)
        token, lost = await create(store), list[int]()
        find = tokens.find

        async def losing(connection: AsyncConnection, plaintext: str) -> tokens.Token | None:
            if not lost:
                lost.append(await connection.scalar(text("SELECT pg_backend_pid()")))
                await server.execute(f"SELECT pg_terminate_backend({lost[0]})")
            return await find(connection, plaintext)

        monkeypatch.setattr(tokens, "find", losing)
        assert (await valid_token(REQUEST, cache, token.plaintext)).id == token.token.id
        assert lost
        await tasks.close()
        await store.close()


async def test_a_store_that_hangs_costs_a_known_token_next_to_nothing() -> None:
    with running_postgres() as server:
        await migrate.upgrade(server.url("postgres"))
        store, tasks = Store(server.url("postgres"), connections=2), BackgroundTasks()
        cache = TokenCache(store, tasks, fresh_seconds=0)
        token = await create(store)
        await valid_token(REQUEST, cache, token.plaintext)
        with server.thawed_at_last():
            server.suspend()
            started = time.monotonic()
            for _ in range(1000):
                await valid_token(REQUEST, cache, token.plaintext, allow_stale=True)
            assert time.monotonic() - started < 3 + LOOKUP_SECONDS
        async with store.transaction() as connection:
            await tokens.revoke(connection, token.token.id, datetime.now(UTC))
        await until(lambda: is_refused(cache, token))
        await tasks.close()
        await store.close()
