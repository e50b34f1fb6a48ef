"""Metrics of two workers, of which one is killed."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.api.catalogue import loaded
from tests.support.api.exposition import samples
from tests.support.api.metrics import BACKLOGS, check_exposition, requests_of, total
from tests.support.api.two_workers import two_workers
from tests.support.api.waiting import serves, until
from tests.support.app import ALL_SCOPES, new_token
from tests.support.store.migrated import migrated

START_LIMIT = 120.0  # seconds: a busy machine takes long to start two workers


@pytest.fixture
async def service(opensearch_url: str, tmp_path: Path) -> AsyncIterator[tuple[str, int, str]]:
    """The address of two workers, their parent process, and a token."""
    with loaded(opensearch_url, tmp_path) as settings:
        await migrated(settings.database_url)
        token = await new_token(settings.database_url, *ALL_SCOPES)
        with two_workers(settings, tmp_path) as (address, process):
            yield address, process, token


async def test_each_worker_tells_for_all_also_for_one_that_was_killed(service: tuple[str, int, str]) -> None:
    address, process, token = service

    async def response(path: str, accept: str = "*/*") -> str:
        # a connection each, so that both workers get some; reading the system's certificates takes 27 ms each
        headers = {"Authorization": f"Bearer {token}", "Accept": accept}
        async with httpx.AsyncClient(base_url=address, headers=headers, verify=False) as client:
            return (await client.get(path)).raise_for_status().text

    async def answered() -> bool:
        async with httpx.AsyncClient(base_url=address, verify=False) as client:
            return await serves(client)

    async def both_serve() -> bool:
        return total(await response("/metrics"), "gear_workers") == 2

    await until(answered, START_LIMIT)
    for _ in range(20):
        assert await answered()
    assert requests_of(await response("/metrics"), "/health/live", 200) == 21
    worker = psutil.Process(process).children()[0]
    worker.kill()
    worker.wait()
    await until(answered, START_LIMIT)
    text = await response("/metrics")
    check_exposition(text, await response("/metrics", "application/openmetrics-text; version=1.0.0"))
    assert requests_of(text, "/health/live", 200) >= 21, "what the dead worker counted stays"
    await until(both_serve, START_LIMIT)
    assert total(await response("/metrics"), "gear_worker_deaths_total") == 1
    for name in BACKLOGS:
        assert [labels for metric, labels in samples(text) if metric == name] == [frozenset()]
