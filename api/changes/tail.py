"""The tail of the feed: readers of one worker who wait for changes, those with the same one together.

When the feed is written further, each subscription is asked once, whoever waits for it.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from api.background.coalescing import CoalescedRuns, Waiters
from api.background.tasks import BackgroundTasks
from api.changes.log import ChangeLog, ChangePage, Subscription
from api.changes.schemas import MAX_CHANGES
from api.errors import ApiError
from api.log import log
from store import feeds
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.feeds import Feed
from store.records import LogPosition

POLL_SECONDS: Final = 0.2
RETRY_SECONDS: Final = 1.0
START_SECONDS: Final = 10.0
CLOSED_SECONDS: Final = 1.0  # that a reader who comes while the server is about to stop waits: it asks again at once
READ_AT_SECONDS: Final = 60.0
MAX_AT_ONCE: Final = 8  # pages that the engine is asked for at the same time
STARTING: Final = "the change feed is starting, or nobody records it: ask again"


@dataclass
class _Group:
    """Readers who wait with one subscription. For it nothing has changed after `low` up to `end`.

    `is_current` is false from a failed read of what follows `end` to the next one that succeeds.
    """

    subscription: Subscription
    low: int
    end: LogPosition
    page: "asyncio.Future[ChangePage | None]"
    readers: int = 0
    is_current: bool = True
    waiters: Waiters = field(default_factory=Waiters)

    def covers(self, since: LogPosition) -> bool:
        """Whether what follows a bookmark is known to be nothing, up to the end."""
        return self.is_current and since.segment == self.end.segment and self.low <= since.seq <= self.end.seq


class Tail:
    """Reads the feed, at once or when there is something to read."""

    def __init__(
        self,
        store: Store,
        change_log: ChangeLog,
        tasks: BackgroundTasks,
        wake_recorder: Callable[[], None],
        set_waiting: Callable[[int], None],
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> None:
        self._store = store
        self._log = change_log
        self._tasks = tasks
        self._wake_recorder = wake_recorder
        self._set_waiting = set_waiting
        self._poll_seconds = poll_seconds
        # thousands of readers who begin at once share a few reads and writes of the store
        self._finding = CoalescedRuns(tasks, self._find)
        self._starting = CoalescedRuns(tasks, self._start)
        self._groups: dict[tuple[str | None, bytes], _Group] = {}
        self._following: asyncio.Task[None] | None = None
        self._committed = asyncio.Event()
        self._waiting = 0
        self._reading = asyncio.Semaphore(MAX_AT_ONCE)
        self.is_closed = False

    def wake(self) -> None:
        """Something was committed in this process."""
        self._committed.set()

    def close(self) -> None:
        """Answers all who wait: the server is about to stop."""
        self.is_closed = True
        for group in self._groups.values():
            if not group.page.done():
                group.page.set_result(None)
        self._groups.clear()
        self._committed.set()

    async def recorded(self) -> Feed:
        """The feed while it is recorded: with a state it has a log. Begins it where nobody has read it before.

        Raises ApiError, StoreUnavailable.
        """
        feed = await self._finding.result()
        return await self._starting.result() if feed is None or feed.state is None else feed

    async def _start(self) -> Feed:
        """Begins the feed, and waits until it is recorded."""
        async with self._store.transaction() as connection:
            await feeds.activate(connection, self._log.feed, datetime.now(UTC))
        self._wake_recorder()
        try:
            async with asyncio.timeout(START_SECONDS):
                while True:
                    feed = await self._finding.result()
                    if feed is not None and feed.state is not None:
                        return feed
                    await asyncio.sleep(0.05)
        except TimeoutError as error:
            raise ApiError("search_unavailable", STARTING) from error

    async def next_page(
        self, subscription: Subscription, since: LogPosition, limit: int, seconds: float
    ) -> tuple[ChangePage, int]:
        """The changes after a bookmark, waited for where there are none yet, and up to which number they are read
        already. Raises ApiError `bookmark_expired`, `search_unavailable`, and StoreUnavailable.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            # who waits behind others costs no request: thousands do at once
            group = self._groups.get(subscription.key) if seconds else None
            if group is not None and group.covers(since):
                page = ChangePage([], group.end, more=False)
            else:
                page = await self._read(await self._finding.result(), subscription, since, limit)
            left = until - loop.time()
            if self.is_closed and left > 0 and not page.changes:
                await asyncio.sleep(min(left, CLOSED_SECONDS))
            if page.changes or left <= 0 or self.is_closed:
                return page, since.seq
            following = await self._wait(subscription, page, left)
            # what was read for those who waited before may end where this reader has been already
            if following is not None and (not following.changes or following.changes[-1].seq > page.end.seq):
                return following, page.end.seq

    async def _read(self, feed: Feed | None, subscription: Subscription, since: LogPosition, limit: int) -> ChangePage:
        if feed is None:
            raise ApiError("bookmark_expired")
        async with self._reading:
            return await self._log.read(feed, subscription, since, limit)

    async def _wait(self, subscription: Subscription, page: ChangePage, seconds: float) -> ChangePage | None:
        """The next changes after an empty page as soon as there are any, some perhaps from before its end; an empty
        page where there are none in time; None where it is to be read again.
        """
        group = self._groups.get(subscription.key)
        if group is None:
            future = asyncio.get_running_loop().create_future()
            group = self._groups[subscription.key] = _Group(subscription, page.end.seq, page.end, future)
            future.add_done_callback(group.waiters.wake)
        elif page.end.seq < group.low:
            return None
        group.readers += 1
        self._waiting += 1
        if self._following is None or self._following.done():
            self._following = self._tasks.start(self._follow())
        try:
            await group.waiters.wait(seconds)
            if group.page.done():
                return group.page.result() or page
            return page if page.end.seq > group.end.seq else ChangePage([], group.end, more=False)
        finally:
            self._waiting -= 1
            group.readers -= 1
            if not group.readers:
                self._finish(group)

    async def _follow(self) -> None:
        """Polls the feed while readers wait, and reads the changes of each group when the feed has grown."""
        while self._waiting and not self.is_closed:
            self._set_waiting(self._waiting)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._poll_seconds):
                    await self._committed.wait()
            self._committed.clear()
            try:
                feed = await self._finding.result()
            except StoreUnavailable:  # logged by others
                for group in self._groups.values():
                    group.is_current = False
                await asyncio.sleep(RETRY_SECONDS)
                continue
            end = None if feed is None or not feed.segments else feed.end
            async with asyncio.TaskGroup() as tasks:
                for group in list(self._groups.values()):
                    if group.end == end:
                        group.is_current = True
                    else:
                        tasks.create_task(self._ask(feed, group))
        self._set_waiting(self._waiting)

    async def _ask(self, feed: Feed | None, group: _Group) -> None:
        """Answers the readers of a group if there is something for them."""
        try:
            page = await self._read(feed, group.subscription, group.end, MAX_CHANGES)
        except ApiError as error:
            if error.code == "bookmark_expired":
                self._fail(group, error)
            group.is_current = False  # else it is asked again
            return
        except Exception as error:  # of this group alone: the others are read on
            log.exception("a request of the change feed fails: its readers get the error")
            self._fail(group, error)
            return
        if page.changes:
            self._finish(group)
            if not group.page.done():
                group.page.set_result(page)
        else:
            group.end, group.is_current = page.end, True

    def _fail(self, group: _Group, error: Exception) -> None:
        self._finish(group)
        if not group.page.done():
            group.page.set_exception(error)
            group.page.exception()  # perhaps nobody waits any more

    def _finish(self, group: _Group) -> None:
        if self._groups.get(group.subscription.key) is group:
            del self._groups[group.subscription.key]

    async def _find(self) -> Feed | None:
        """The feed, which goes on being recorded while it is asked for; None while nobody reads it."""
        async with self._store.reading() as connection:
            feed = await feeds.find(connection, self._log.feed)
        if feed is not None and datetime.now(UTC) - feed.read_at > timedelta(seconds=READ_AT_SECONDS):
            async with self._store.transaction() as connection:
                await feeds.activate(connection, self._log.feed, datetime.now(UTC))
        return feed
