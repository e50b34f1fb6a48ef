"""A running app for tests: settings in, an HTTP client with a token out; the app's own start and end included."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from api.app import create_app
from api.settings import Settings
from store import migrate, tokens
from store.engine import Store

ALL_SCOPES = ("search", "order", "fulfil", "metrics")


@dataclass(frozen=True)
class RunningApp:
    """The app, a client that sends its token, and what it runs with."""

    app: FastAPI
    client: httpx.AsyncClient
    settings: Settings
    token: str

    async def search(self, body: dict[str, Any]) -> httpx.Response:
        """`POST /v1/gear/search`."""
        return await self.client.post("/v1/gear/search", json=body)


def settings_for(opensearch_url: str, index_prefix: str, folder: Path, **more: Any) -> Settings:
    """Settings of a test: its own names, its own SQLite file, no limit of requests."""
    given = {
        "opensearch_url": opensearch_url,
        "index_prefix": index_prefix,
        "database_url": f"sqlite+aiosqlite:///{folder}/gear.db",
        "rate_limit": "",
        "public_url": "http://gear.test",
        **more,
    }
    return Settings(_env_file=None, **given)


async def new_token(database_url: str, *scopes: str, **more: Any) -> str:
    """A token with these scopes; returns its text."""
    now = datetime.now(UTC)
    store = Store(database_url)
    try:
        async with store.transaction() as connection:
            made = await tokens.create(connection, "test", scopes, False, more.get("expires_at"), now)
    finally:
        await store.close()
    return made.plaintext


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[RunningApp]:
    """The app with a migrated database, started, and a client with a token of every scope."""
    await migrate.upgrade(settings.database_url)
    token = await new_token(settings.database_url, *ALL_SCOPES)
    app = create_app(settings)
    # a fault of the app shall be seen as the client sees it: an answer, not an exception
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://gear.test", headers=headers) as client,
    ):
        yield RunningApp(app, client, settings, token)
