"""A running app with a few items, in this process and as the real command in a process beside it."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.api.catalogue import loaded
from tests.support.api.described import only_described
from tests.support.app import ALL_SCOPES, RunningApp, new_token, running
from tests.support.orders.processes import worker
from tests.support.store.migrated import migrated


@pytest.fixture(scope="package")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """The app with a handful of items of platform 730."""
    with loaded(opensearch_url, tmp_path_factory.mktemp("api")) as settings:
        async with running(settings) as started:
            started.client.event_hooks = {"response": [only_described(started.app)]}
            yield started


@pytest.fixture(scope="package")
async def served(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.Client]:
    """A client of `gear-api serve` on a free port, with items, a database and a token of its own.

    It shares nothing with `app`, whose background work stands still while a test waits for this process.
    """
    folder = tmp_path_factory.mktemp("served")
    with loaded(opensearch_url, folder) as settings:
        await migrated(settings.database_url)
        token = await new_token(settings.database_url, *ALL_SCOPES)
        async with worker(settings, folder, token) as process:
            headers = process.client.headers
            with httpx.Client(base_url=process.client.base_url, headers=headers, timeout=60) as client:
                yield client
