"""Runs the app for tests, its own start and end included, and gives them an HTTP client with a token."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import structlog
import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from api.app import create_app
from api.changes.recorder import INTERVALS, Intervals
from api.http.json_body import BODY_SECONDS
from api.http.protocol import GearProtocol
from api.saved_searches.matcher import MATCHER_LIMITS, MatcherLimits
from api.settings import Settings
from mappings.platforms import PLATFORM_FILES, Platforms
from store.auth import tokens
from store.connection.engine import Store
from tests.support.platforms import shared_platforms
from tests.support.store.migrated import migrated

log = structlog.get_logger("gear.tests")

ALL_SCOPES = ("search", "order", "fulfil", "catalogue", "operate", "metrics")


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


def platforms_for(settings: Settings) -> Platforms | None:
    """The package's platforms for one app: what operators add to it is in no other. None: the app reads other files."""
    if settings.platform_files != PLATFORM_FILES:
        return None
    return shared_platforms()


def settings_for(opensearch_url: str, index_prefix: str, folder: Path, **more: Any) -> Settings:
    """Settings of a test: its own names, its own SQLite file, no limit of requests."""
    values = {
        "opensearch_url": opensearch_url,
        "index_prefix": index_prefix,
        "database_url": f"sqlite+aiosqlite:///{folder}/gear.db",
        "rate_limit": "",
        "address_rate_limit": "",
        "search_timeout": 30,  # several test runs may share this machine
        "public_url": "http://gear.test",
        "drain_seconds": 0,
        **more,
    }
    return Settings(_env_file=None, **values)


async def new_token(database_url: str, *scopes: str, **more: Any) -> str:
    """A token with these scopes; returns its text."""
    now = datetime.now(UTC)
    sandbox, expires_at = more.pop("sandbox", False), more.pop("expires_at", None)
    store = Store(database_url)
    try:
        async with store.transaction() as connection:
            created = await tokens.create(connection, "test", scopes, sandbox, expires_at, now, **more)
    finally:
        await store.close()
    return created.plaintext


@asynccontextmanager
async def running(
    settings: Settings, *, intervals: Intervals = INTERVALS, matcher_limits: MatcherLimits = MATCHER_LIMITS
) -> AsyncIterator[RunningApp]:
    """The app with a migrated database, started, and a client with a token of every scope."""
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, *ALL_SCOPES)
    app = create_app(settings, platforms_for(settings), intervals=intervals, matcher_limits=matcher_limits)
    # a fault of the app shall be seen as the client sees it: an answer, not an exception
    transport = httpx.ASGITransport(_logging_faults(app), raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://gear.test", headers=headers) as client,
    ):
        yield RunningApp(app, client, settings, token)


def _logging_faults(app: FastAPI) -> ASGIApp:
    """The app, whose unexpected exceptions are logged, as uvicorn does it where there is one."""

    async def logging_faults(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception:
            log.exception("the app raised")
            raise

    return logging_faults


@contextmanager
def serving(
    settings: Settings, *, http: type[GearProtocol] = GearProtocol, body_seconds: float = BODY_SECONDS
) -> Iterator[httpx.Client]:
    """The app behind a real server on a free port, and a client with a token of every scope, for blocking tests."""
    asyncio.run(migrated(settings.database_url))
    token = asyncio.run(new_token(settings.database_url, *ALL_SCOPES))
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = create_app(settings, platforms_for(settings), body_seconds=body_seconds)
    server = uvicorn.Server(uvicorn.Config(app, http=http, log_config=None, access_log=False, timeout_keep_alive=75))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    headers = {"Authorization": f"Bearer {token}"}
    try:
        # no certificates are read, which takes 27 ms
        with httpx.Client(base_url=address, headers=headers, timeout=60, verify=False) as client:
            # the socket listens already: the request waits until the app has started
            client.get("/health/live").raise_for_status()
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()
