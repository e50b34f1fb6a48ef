"""Runs an app on an index of given items."""

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from api.background.tasks import BackgroundTasks
from api.engine.client import Engine
from api.search.response_cache import IndexRevision, ResponseCache
from api.search.service import SearchServices
from mappings.connection import connect
from tests.support.api.catalogue import CS2, put_index
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices


@asynccontextmanager
async def new_engine(app: RunningApp) -> AsyncIterator[Engine]:
    """A client of the app's engine that has shown nothing yet."""
    engine = Engine(app.settings, timeout=30, cached_bytes=2**20)
    try:
        yield engine
    finally:
        await engine.close()


def awaited_revision(engine: Engine) -> IndexRevision:
    """The revision of indices, however long a busy engine takes to report it."""
    return IndexRevision(engine.revision, BackgroundTasks(), timeout=30.0)


def wait_for_revisions(app: RunningApp) -> None:
    """Caches responses however long a busy engine takes to report the revision of its indices."""
    services = app.app.state.services
    search: SearchServices = services[SearchServices]
    revision = awaited_revision(search.engine)
    cache = ResponseCache(revision, lambda _: None, app.settings.response_cache_mib * 1024**2)
    services[SearchServices] = replace(search, response_cache=cache)


@asynccontextmanager
async def serving(
    opensearch_url: str, folder: Path, items: Iterable[dict[str, Any]], **more: Any
) -> AsyncIterator[tuple[RunningApp, OpenSearch]]:
    """The app on an index of these items, and a client of its engine. No response is cached."""
    settings = settings_for(opensearch_url, f"t{secrets.token_hex(5)}", folder, response_cache_mib=0, **more)
    put_index(settings, CS2, items)
    engine = connect(settings)
    try:
        async with running(settings) as app:
            yield app, engine
    finally:
        engine.close()
        drop_indices(opensearch_url, settings.index_prefix)
