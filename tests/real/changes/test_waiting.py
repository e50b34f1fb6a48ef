"""Readers who wait, by real HTTP: server-sent events, and the end of the server or of a token."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from api.background.tasks import BackgroundTasks
from api.changes.feed import ChangeFeed
from api.changes.log import Subscription
from api.changes.tail import Tail
from api.settings import Settings
from store.auth import tokens
from store.connection.engine import Store
from tests.support.api.catalogue import simple_item
from tests.support.api.envelope import error_of
from tests.support.api.exposition import samples
from tests.support.api.waiting import until
from tests.support.app import ALL_SCOPES, RunningApp, new_token
from tests.support.indexer.fixtures import Place
from tests.support.orders.processes import Worker, worker
from tests.support.streams.changes import Json, Reader, upsert

CROWD = 600


@pytest.fixture
async def server(feed_settings: Settings, tmp_path: Path) -> AsyncIterator[Worker]:
    """A process that serves."""
    token = await new_token(feed_settings.database_url, *ALL_SCOPES)
    async with worker(feed_settings, tmp_path, token) as server:
        yield server


class Events:
    """The events of a stream as a browser reads them."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.last_id = ""

    async def next(self) -> tuple[str, Json]:
        """The name and the data of the next event; raises StopAsyncIteration at the end of the stream."""
        name, data = "message", ""
        async for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "id":
                self.last_id = value
            elif field == "event":
                name = value
            elif field == "data":
                data = value
            elif not line and data:
                return name, orjson.loads(data)
        raise StopAsyncIteration

    async def changes(self, count: int) -> list[tuple[Any, Any]]:
        """The next ids and kinds of changes."""
        async with asyncio.timeout(60):
            return [(data["id"], data["change"]) for _, data in [await self.next() for _ in range(count)]]


@asynccontextmanager
async def streamed(client: httpx.AsyncClient, body: Json, last_id: str | None = None) -> AsyncIterator[Events]:
    headers = {"Accept": "text/event-stream"} | ({} if last_id is None else {"Last-Event-ID": last_id})
    async with client.stream("POST", "/v1/gear/changes", json=body, headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/event-stream")
        yield Events(response.aiter_lines())


async def until_waiting(server: Worker, count: int) -> None:
    """Waits until so many readers wait."""

    async def so() -> bool:
        exposed = samples((await server.client.get("/metrics")).text)
        return exposed["gear_feed_waiting_readers", frozenset()] == count

    await until(so, otherwise=f"{count} readers do not wait")


async def test_a_stream_sends_each_change_and_resumes_after_the_last(server: Worker, place: Place) -> None:
    since = (await Reader(server.client).ask())["next"]
    body = {"platform": 730, "since": since}
    async with streamed(server.client, body) as events:
        await until_waiting(server, 1)
        await upsert(place, simple_item(1001), simple_item(1002))
        assert await events.changes(1) == [(1001, "listed")]
        last = events.last_id
        assert await events.changes(1) == [(1002, "listed")]
    await upsert(place, simple_item(1003))
    async with streamed(server.client, body, last) as events:
        assert await events.changes(2) == [(1002, "listed"), (1003, "listed")]
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "x"}
    error_of(await server.client.post("/v1/gear/changes", json=body, headers=headers), "validation_failed")
    expired = {**headers, "Last-Event-ID": f"{'0' * 16}.1"}
    error_of(await server.client.post("/v1/gear/changes", json=body, headers=expired), "bookmark_expired")


async def test_hundreds_who_begin_at_once_begin(server: Worker) -> None:
    """Nobody has read the feed before, and each of them would write to the store."""
    limits = httpx.Limits(max_connections=CROWD)
    async with httpx.AsyncClient(
        base_url=server.client.base_url, headers=server.client.headers, limits=limits, timeout=60
    ) as crowd:
        responses = await asyncio.gather(*(crowd.post("/v1/gear/changes", json={}) for _ in range(CROWD)))
    assert {response.status_code for response in responses} == {200}


async def test_who_waits_on_behind_others_asks_nothing(app: RunningApp, feed_settings: Settings, place: Place) -> None:
    """Thousands who ask again every half minute, and as many heartbeats, would each cost a read of the store."""
    feed, transactions, someone_waits, tasks = (
        app.app.state.services[ChangeFeed],
        [0],
        asyncio.Event(),
        BackgroundTasks(),
    )

    def count(_kind: str, _waited: float, _seconds: float) -> None:
        transactions[0] += 1

    store = Store(feed_settings.database_url, on_transaction=count)

    def set_waiting(readers: int) -> None:
        if readers:
            someone_waits.set()

    tail = Tail(store, feed.log, tasks, feed.tail.wake, set_waiting, poll_seconds=60.0)
    offered = {"term": {"bound": False}}
    subscription = Subscription((None, b"{}"), offered, platforms=(730,), with_platform=False)
    await Reader(app.client).ask()
    since = (await tail.recorded()).end
    first = asyncio.create_task(tail.next_page(subscription, since, 100, 60))
    await someone_waits.wait()
    before = transactions[0]
    for _ in range(20):
        page, _ = await tail.next_page(subscription, since, 100, 0.01)
        assert (page.changes, page.end) == ([], since)
    assert transactions[0] == before
    last = asyncio.create_task(tail.next_page(subscription, since, 100, 60))
    await upsert(place, simple_item(1001))

    async def both() -> bool:
        tail.wake()
        return first.done() and last.done()

    await until(both, otherwise="who waits is not answered")
    assert [change.seq > since.seq for page, _ in (await first, await last) for change in page.changes] == [True, True]
    await tasks.close()
    await store.close()


async def test_who_waits_is_answered_when_the_server_stops(server: Worker) -> None:
    reader = Reader(server.client)
    since = (await reader.ask())["next"]
    async with streamed(server.client, {}) as events:
        waiting = asyncio.create_task(reader.ask(since=since, wait=30))
        await until_waiting(server, 2)
        server.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert (await waiting)["changes"] == []
            with pytest.raises(StopAsyncIteration):
                await events.next()
            assert await server.process.wait() in (0, -signal.SIGTERM)


async def test_a_token_that_is_revoked_reads_nothing_more(
    server: Worker, place: Place, feed_settings: Settings
) -> None:
    store = Store(feed_settings.database_url)
    async with store.transaction() as connection:
        created = await tokens.create(connection, "reader", ["search"], False, None, datetime.now(UTC))
    headers = {"Authorization": f"Bearer {created.plaintext}"}
    async with httpx.AsyncClient(base_url=server.client.base_url, headers=headers, timeout=60) as client:
        since = (await Reader(client).ask())["next"]
        async with streamed(client, {"platform": 730}) as events:
            body = {"since": since, "wait": 30}
            waiting = asyncio.create_task(client.post("/v1/gear/changes", json=body))
            await until_waiting(server, 2)
            async with store.transaction() as connection:
                await tokens.revoke(connection, created.token.id, datetime.now(UTC))
            await store.close()

            async def so() -> bool:
                response = await client.post("/v1/gear/search", json={})
                return response.status_code == 401

            await until(so, otherwise="the token still works")
            await upsert(place, simple_item(1001))
            error_of(await waiting, "unauthorized")
            assert (await events.next())[0] == "error"
