"""Readers beside upserts, deletes, loads, orders and servers that are killed: each change once, in order, none lost.

GEAR_TEST_FEED_SECONDS and GEAR_TEST_FEED_SEED give longer and other schedules.
"""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.settings import Settings
from tests.support.api.waiting import until
from tests.support.app import ALL_SCOPES, new_token
from tests.support.indexer.fixtures import Place
from tests.support.orders.processes import Worker, worker
from tests.support.search.items import make_items
from tests.support.streams.changes import ITEMS, Json, Reader, delete, load, upsert

SECONDS = float(os.environ.get("GEAR_TEST_FEED_SECONDS", "12"))
SEED = int(os.environ.get("GEAR_TEST_FEED_SEED", "1"))
KILLS = 2
SEARCHES: tuple[Json, ...] = (
    {},
    {"platform": 730, "filters": {"price": {"min": 1, "max": 50}}},
    {"platform": 730, "query": "asiimov"},
    {"platform": 730, "filters": {"weapon": ["AK-47", "AWP"], "exterior": ["Field-Tested", "Minimal Wear"]}},
)


class Servers(httpx.AsyncBaseTransport):
    """Two servers, of which one may be down: a request is sent again until one of them answers."""

    def __init__(self, settings: Settings, folder: Path, token: str) -> None:
        self._arguments = (settings, folder, token)
        self._running: list[tuple[AsyncExitStack, Worker]] = []

    @asynccontextmanager
    async def serving(self, token: str) -> AsyncIterator[httpx.AsyncClient]:
        """A client of whichever server answers."""
        headers = {"Authorization": f"Bearer {token}"}
        await asyncio.gather(self._add(), self._add())
        async with httpx.AsyncClient(transport=self, base_url="http://gear.test", headers=headers) as client:
            yield client
        for stack, _ in self._running:
            await stack.aclose()

    async def _add(self) -> None:
        stack = AsyncExitStack()
        self._running.append((stack, await stack.enter_async_context(worker(*self._arguments))))

    async def kill_one(self) -> None:
        """Kills the one that has run for longer, and starts another."""
        stack, oldest = self._running.pop(0)
        oldest.process.send_signal(signal.SIGKILL)
        await stack.aclose()
        await self._add()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        content = await request.aread()
        while True:
            for _, server in list(self._running):
                try:
                    return await server.client.request(
                        request.method, request.url.path, content=content, headers={"Content-Type": "application/json"}
                    )
                except httpx.TransportError:
                    await asyncio.sleep(0.05)


async def _write(place: Place, chance: random.Random, ids: range) -> None:
    """Upserts and deletes some of these items."""
    numbers = chance.sample(ids, chance.randint(1, 12))
    if chance.random() < 0.3:
        await delete(place, *numbers)
    else:
        items = make_items(len(numbers), seed=chance.randrange(1000))
        await upsert(place, *({**item, "id": number} for item, number in zip(items, numbers, strict=True)))


async def _load(place: Place, chance: random.Random) -> None:
    """A reload with small differences."""
    rest = [item for item in ITEMS if chance.random() < 0.9]
    await load(place, [{**item, "price": chance.randint(1, 99)} if chance.random() < 0.1 else item for item in rest])


async def _order(client: httpx.AsyncClient, chance: random.Random, placed: list[str]) -> None:
    """Binds an item or releases one."""
    if placed and chance.random() < 0.5:
        moved = await client.post(f"/v1/orders/{placed.pop()}/transitions", json={"to": "cancelled"})
        assert moved.status_code in (200, 409), moved.text  # the answer to the first try may be lost
        return
    item = chance.choice(ITEMS)["id"]
    body = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": str(item)}
    response = await client.post("/v1/gear", json=body)
    assert response.status_code in (201, 404, 409), response.text
    if response.status_code == 201:
        placed.append(response.json()["order"]["id"])
        await until(partial(_is_hidden, client, item))


async def _is_hidden(client: httpx.AsyncClient, item: int) -> bool:
    response = await client.post("/v1/gear/search", json={"platform": 730, "filters": {"ids": [item]}})
    return response.status_code == 200 and response.json()["total"] == 0


@pytest.mark.timeout(180 + 4 * SECONDS)
async def test_what_readers_replay_is_what_searches_find(place: Place, feed_settings: Settings, tmp_path: Path) -> None:
    token = await new_token(feed_settings.database_url, *ALL_SCOPES)
    servers = Servers(feed_settings, tmp_path, token)
    async with servers.serving(token) as client:
        readers = [await Reader(client, search, limit=20).begin() for search in SEARCHES]
        first = readers[0]
        slow = Reader(client, limit=7, items=dict(first.items), next=first.next)
        await _run(place, client, servers, readers)
        for _ in range(10):
            for reader in (*readers, slow):
                await reader.agrees()
            if slow.changes == first.changes:  # cursors may share a view that is a moment old, with which one agreed
                break
        assert slow.changes == first.changes
        assert len(first.changes) > 20
        assert {change["change"] for change in first.changes} == {"listed", "changed", "gone"}


async def _run(place: Place, client: httpx.AsyncClient, servers: Servers, readers: list[Reader]) -> None:
    """Everything that may happen, at once, until the time is over and two servers were killed."""
    end = asyncio.get_running_loop().time() + SECONDS
    is_over = asyncio.Event()
    placed: list[str] = []

    async def repeat(number: int, work: Any, *arguments: Any) -> None:
        chance = random.Random(f"{SEED} {number}")
        while not is_over.is_set():
            await work(*(chance if each is random else each for each in arguments))

    async def kill() -> None:
        for _ in range(KILLS):
            await asyncio.sleep(SECONDS / KILLS / 2)
            await servers.kill_one()
        await asyncio.sleep(max(0.0, end - asyncio.get_running_loop().time()))
        is_over.set()

    ids = sorted(item["id"] for item in ITEMS)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(kill())
        for number, part in enumerate((ids[::2], ids[1::2])):
            tasks.create_task(repeat(number, _write, place, random, [*part, *range(9000 + number, 9040, 2)]))
        tasks.create_task(repeat(2, _load, place, random))
        tasks.create_task(repeat(3, _order, client, random, placed))
        for reader in readers:
            tasks.create_task(repeat(4, reader.read, 2))
