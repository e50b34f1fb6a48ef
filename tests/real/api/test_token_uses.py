"""When a token was used last: written in the background, never while a request waits, and not lost by a stop."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.background.tasks import BackgroundTasks
from api.orders.services import OrderServices
from api.token_cache import USES_SECONDS, TokenCache
from store.auth import tokens
from store.auth.tokens import Token
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.store.migrated import migrated


async def last_use(store: Store, token: str) -> datetime | None:
    async with store.reading() as connection:
        stored = await tokens.find(connection, token)
    assert isinstance(stored, Token)
    return stored.last_used_at


async def test_a_use_is_written_by_the_background_alone(app: RunningApp) -> None:
    services = app.app.state.services
    store, cache = services[OrderServices].store, services[TokenCache]
    used, unused = [await new_token(app.settings.database_url, "search") for _ in range(2)]
    before = datetime.now(UTC)
    for _ in range(3):
        response = await app.client.get("/v1/platforms", headers={"Authorization": f"Bearer {used}"})
        assert response.status_code == 200
    assert await last_use(store, used) is None, "no request writes it"
    assert await cache.record_uses() == USES_SECONDS
    at = await last_use(store, used)
    assert at is not None
    assert before <= at <= datetime.now(UTC)
    assert await last_use(store, unused) is None
    await cache.record_uses()
    assert await last_use(store, used) == at, "nothing new is nothing to write"


async def test_a_stop_writes_what_is_left(app: RunningApp, tmp_path: Path) -> None:
    app_settings = app.settings
    async with running(settings_for(app_settings.opensearch_url, app_settings.index_prefix, tmp_path)) as other:
        assert (await other.client.get("/v1/platforms")).status_code == 200
    store = Store(other.settings.database_url)
    try:
        assert await last_use(store, other.token) is not None
    finally:
        await store.close()


async def test_a_use_during_an_outage_of_the_store_is_written_after_it(tmp_path: Path) -> None:
    file = tmp_path / "gear.db"
    store, tasks = Store(await migrated(f"sqlite:///{file}")), BackgroundTasks()
    cache = TokenCache(store, tasks)
    try:
        async with store.transaction() as connection:
            created = await tokens.create(connection, "shop", ["search"], False, None, datetime.now(UTC))
        first = datetime.now(UTC)
        cache.add_use(created.token, first)
        file.rename(tmp_path / "away.db")
        with pytest.raises(StoreUnavailable):
            await cache.record_uses()
        cache.add_use(created.token, first + timedelta(seconds=1))
        (tmp_path / "away.db").rename(file)
        await cache.record_uses()
        assert await last_use(store, created.plaintext) == first + timedelta(seconds=1)
    finally:
        await store.close()
        await tasks.close()
