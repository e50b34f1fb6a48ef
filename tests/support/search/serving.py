"""Items go in, a running app on an index of them comes out."""

import secrets
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from api.engine.client import Engine
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
