"""An app over a loaded catalogue, which calls back over http, and whose items change beside it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.settings import Settings
from tests.support.api.catalogue import CS2, put_index
from tests.support.app import RunningApp, running, settings_for
from tests.support.indexer.fixtures import Place
from tests.support.store.migrated import migrated
from tests.support.streams.changes import ITEMS


@pytest.fixture
async def feed_settings(opensearch_url: str, index_prefix: str, place: Place, tmp_path: Path) -> Settings:
    """Settings of an app with items, whose database the indexer's commands use as well."""
    url = await migrated(f"sqlite+aiosqlite:///{place.folder}/orders.db")
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=url, allow_insecure_callbacks=True)
    put_index(settings, CS2, ITEMS, datetime.now(UTC) - timedelta(hours=1))
    return settings


@pytest.fixture
async def app(feed_settings: Settings) -> AsyncIterator[RunningApp]:
    """The app, started."""
    async with running(feed_settings) as app:
        yield app
