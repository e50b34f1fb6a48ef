"""Readers who wait, while the server is about to stop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from api.background.tasks import BackgroundTasks
from api.changes import tail
from api.changes.log import ChangeLog, ChangePage, Subscription
from api.changes.tail import Tail
from store import feeds
from store.connection.engine import Store
from store.feeds import Feed, Segment
from store.records import LogPosition

NOW = datetime.now(UTC)
SEGMENT = Segment(id="5f0c2a9be1d34780", first=1, last=7, opened_at=NOW, closed_at=None)
FEED = Feed(term=1, read_at=NOW, committed=7, state="{}", segments=[SEGMENT])
SUBSCRIPTION = Subscription(key=(None, b"{}"), offered={}, platforms=(730,), with_platform=False)


class QuietStore:
    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        yield


class QuietLog:
    """A log in which nothing changes."""

    feed = "gear"

    async def read(self, feed: Feed, subscription: Subscription, since: LogPosition, limit: int) -> ChangePage:
        return ChangePage([], feed.end, more=False)


@pytest.fixture
async def quiet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Tail]:
    """The tail of a feed in which nothing changes."""

    async def find(*_: Any) -> Feed:
        return replace(FEED, read_at=datetime.now(UTC))  # it was read just now, however long ago the module was

    monkeypatch.setattr(feeds, "find", find)
    monkeypatch.setattr(tail, "CLOSED_SECONDS", 0.2)
    tasks = BackgroundTasks()
    yield Tail(
        cast("Store", QuietStore()),
        cast("ChangeLog", QuietLog()),
        tasks,
        lambda: None,
        lambda _: None,
        poll_seconds=0.01,
    )
    await tasks.close()


async def test_who_waits_is_answered_at_once_and_who_comes_then_soon(
    quiet: Tail, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    waiting = asyncio.create_task(quiet.next_page(SUBSCRIPTION, FEED.end, 10, 30))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    closed_at = loop.time()
    quiet.close()
    page, _ = await waiting
    assert (page.changes, page.end) == ([], FEED.end)
    assert loop.time() - closed_at < 10, "the 30 s of the request"
    pages = 0
    while loop.time() - closed_at < 1:
        await quiet.next_page(SUBSCRIPTION, FEED.end, 10, 30)
        pages += 1
    assert pages <= 5, "a client that asks again at once is not answered all the time"
    monkeypatch.setattr(tail, "CLOSED_SECONDS", 10)
    began = loop.time()
    await quiet.next_page(SUBSCRIPTION, FEED.end, 10, 0)
    assert loop.time() - began < 10, "one that does not wait is not held"
