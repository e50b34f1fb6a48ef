"""Servers that are told to stop: they are taken out first, then they end, and no request is lost."""

import asyncio
import os
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import httpx
import pytest

from api.settings import Settings
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.app import settings_for
from tests.support.faults.balancer import Balancer
from tests.support.faults.restarted import DRAIN_SECONDS, serving, token_of
from tests.support.indices import drop_indices

RESTARTS = int(os.environ.get("GEAR_TEST_RESTARTS", "6"))
CLIENTS = 4
ITEMS = 50


@pytest.fixture
def settings(opensearch_url: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings of servers with a few items."""
    prefix = f"t{secrets.token_hex(5)}"
    (platform,) = read_platforms()
    served = settings_for(opensearch_url, prefix, tmp_path)
    put_index(served, platform, map(simple_item, range(1, ITEMS + 1)))
    yield served
    drop_indices(opensearch_url, prefix)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_server_that_has_to_stop_is_not_ready_and_serves_on(settings: Settings, workers: int) -> None:
    headers = await token_of(settings)
    async with serving(settings, workers) as server:
        assert server.process is not None
        address = f"http://127.0.0.1:{server.port}"
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
            assert (await client.get("/v1/platforms")).status_code == 200
            drain_ends = monotonic() + DRAIN_SECONDS
            server.process.send_signal(signal.SIGTERM)
            stopped = asyncio.create_task(server.process.wait())
            while (ready := await client.get("/health/ready")).status_code == 200:
                pass
            assert "stopping" in error_of(ready, "overloaded")["message"]
            served = 0
            while not stopped.done():
                try:
                    response = await client.get("/v1/platforms")
                except httpx.TransportError:
                    assert monotonic() > drain_ends
                    break
                assert (response.status_code, response.headers["Connection"]) == (200, "close")
                served += 1
            assert served > 3
            await asyncio.wait_for(stopped, 30)


@pytest.mark.timeout(120 + 80 * RESTARTS)  # a start takes ten seconds of a busy machine's core
async def test_rolling_restarts_fail_no_request_and_end_no_cursor(settings: Settings) -> None:
    headers = await token_of(settings)
    async with serving(settings, 1) as first, serving(settings, 2) as second:
        balancer = Balancer([first.port, second.port])
        async with balancer.running():
            await balancer.until_ready(first.port)
            await balancer.until_ready(second.port)
            address = f"http://127.0.0.1:{balancer.port}"
            done = asyncio.Event()
            async with httpx.AsyncClient(base_url=address, headers=headers, timeout=30) as client:
                load = [asyncio.create_task(searches(client, number, done)) for number in range(CLIENTS)]
                load.append(asyncio.create_task(cursors(client, done)))
                for number in range(RESTARTS):
                    server = (first, second)[number % 2]
                    await server.stop()
                    await server.start()
                    await balancer.until_ready(server.port)
                    assert not any(task.done() for task in load), [task for task in load if task.done()]
                done.set()
                counts = await asyncio.gather(*load)
    assert min(counts) > 3 * RESTARTS, counts


async def searches(client: httpx.AsyncClient, number: int, done: asyncio.Event) -> int:
    """Distinct searches, one after the other, each of which must succeed; returns their number."""
    sent = 0
    while not done.is_set():
        body = {"filters": {"price": {"max": 100 * number + sent / 100}}}
        response = await client.post("/v1/gear/search", json=body)
        assert response.status_code == 200, response.text
        sent += 1
        await asyncio.sleep(0.005)
    return sent


async def cursors(client: httpx.AsyncClient, done: asyncio.Event) -> int:
    """Reads all items by cursors, each page at the server that comes; returns the number of pages."""
    pages = 0
    while not done.is_set():
        item_ids: list[int] = []
        cursor: str | None = "*"
        while cursor is not None:
            response = await client.post("/v1/gear/search", json={"limit": 2, "cursor": cursor})
            assert response.status_code == 200, response.text
            item_ids += [item["id"] for item in response.json()["gear"]]
            cursor = response.json()["nextCursor"]
            pages += 1
            await asyncio.sleep(0.05)
        assert sorted(item_ids) == list(range(1, ITEMS + 1))
    return pages
