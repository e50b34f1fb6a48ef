"""A loaded platform and its service with two workers, for all tests of this folder."""

import asyncio
import secrets
from collections.abc import Iterator

import httpx
import pytest

from mappings.connection import connect
from tests.support.api.market import Market
from tests.support.api.two_workers import two_workers
from tests.support.api.waiting import wait_until
from tests.support.app import ALL_SCOPES, new_token, settings_for
from tests.support.indexer.fixtures import items
from tests.support.indices import drop_indices
from tests.support.store.migrated import migrated


@pytest.fixture(scope="package")
def market(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    prefix, folder = f"t{secrets.token_hex(5)}", tmp_path_factory.mktemp("catalogue")
    settings = settings_for(opensearch_url, prefix, folder)
    asyncio.run(migrated(settings.database_url))
    token = asyncio.run(new_token(settings.database_url, *ALL_SCOPES))
    engine = connect(settings)
    try:
        with two_workers(settings, folder) as (url, _):
            created = Market(url, token, settings, engine, folder)
            created.load(items(10))
            wait_until(lambda: _lives(url), 120)
            yield created
    finally:
        engine.close()
        drop_indices(opensearch_url, prefix)


def _lives(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready", verify=False).status_code == 200
    except httpx.TransportError:
        return False
