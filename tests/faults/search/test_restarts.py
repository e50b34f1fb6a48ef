"""Servers that are told to stop: they are taken out first, then they end, and no request is lost."""

import asyncio
import os
import secrets
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import httpx
import pytest

from api.settings import Settings
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.app import new_token, settings_for
from tests.support.faults.balancer import Balancer
from tests.support.indices import drop_indices
from tests.support.servers import free_port
from tests.support.store.migrated import migrated

RESTARTS = int(os.environ.get("GEAR_TEST_RESTARTS", "6"))
DRAIN_SECONDS = 1.5
START_SECONDS = 150.0  # a busy machine takes a minute for two workers
CLIENTS = 4
ITEMS = 50


@pytest.fixture
def settings(opensearch_url: str, tmp_path: Path) -> Iterator[Settings]:
    """Settings of servers with a few items."""
    prefix = f"t{secrets.token_hex(5)}"
    (platform,) = read_platforms()
    made = settings_for(opensearch_url, prefix, tmp_path)
    put_index(made, platform, map(simple_item, range(1, ITEMS + 1)))
    yield made
    drop_indices(opensearch_url, prefix)


class Server:
    """`gear-api serve` on one port, started again and again."""

    def __init__(self, settings: Settings, workers: int) -> None:
        self.port = free_port()
        self._workers = workers
        self._environment = {
            **os.environ,
            **{f"GEAR_{name.upper()}": str(getattr(settings, name)) for name in settings.model_fields_set},
            "GEAR_DRAIN_SECONDS": str(DRAIN_SECONDS),
        }
        self.process: Process | None = None

    async def start(self) -> None:
        """Starts it, and waits until it is ready."""
        command = [str(Path(sys.executable).parent / "gear-api"), "serve", "--port", str(self.port)]
        self.process = await asyncio.create_subprocess_exec(
            *command, "--workers", str(self._workers), env=self._environment, stderr=asyncio.subprocess.DEVNULL
        )
        deadline = monotonic() + START_SECONDS
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=30) as client:
            while monotonic() < deadline and self.process.returncode is None:
                try:
                    if (await client.get("/health/ready")).status_code == 200:
                        return
                except httpx.TransportError:
                    await asyncio.sleep(0.1)
        raise AssertionError("the server is not ready")

    async def stop(self) -> None:
        """Tells it to stop, and waits until it has."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            await self.process.wait()


@asynccontextmanager
async def serving(settings: Settings, workers: int) -> AsyncIterator[Server]:
    """A started server."""
    server = Server(settings, workers)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


async def token_of(settings: Settings) -> dict[str, str]:
    """The header with a token of a database that is there."""
    await migrated(settings.database_url)
    return {"Authorization": f"Bearer {await new_token(settings.database_url, 'search')}"}


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
                    answer = await client.get("/v1/platforms")
                except httpx.TransportError:
                    assert monotonic() > drain_ends
                    break
                assert (answer.status_code, answer.headers["Connection"]) == (200, "close")
                served += 1
            assert served > 3
            await asyncio.wait_for(stopped, 30)


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
        answer = await client.post("/v1/gear/search", json=body)
        assert answer.status_code == 200, answer.text
        sent += 1
        await asyncio.sleep(0.005)
    return sent


async def cursors(client: httpx.AsyncClient, done: asyncio.Event) -> int:
    """Reads all items by cursors, each page at the server that comes; returns the number of pages."""
    pages = 0
    while not done.is_set():
        found: list[int] = []
        cursor: str | None = "*"
        while cursor is not None:
            answer = await client.post("/v1/gear/search", json={"limit": 2, "cursor": cursor})
            assert answer.status_code == 200, answer.text
            found += [item["id"] for item in answer.json()["gear"]]
            cursor = answer.json()["nextCursor"]
            pages += 1
            await asyncio.sleep(0.05)
        assert sorted(found) == list(range(1, ITEMS + 1))
    return pages
