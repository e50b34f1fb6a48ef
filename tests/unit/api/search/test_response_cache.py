"""The response cache: shared lookups, never an older response than the index, only so many bytes, and it fails open."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from structlog.testing import capture_logs

from api.background.tasks import BackgroundTasks
from api.errors import ApiError
from api.search import response_cache
from api.search.response_cache import Computation, IndexRevision, ResponseCache, Result
from mappings.platforms import Platform
from tests.support.platforms import shared_platforms

PLATFORMS = tuple(shared_platforms())
MAX_BYTES = 1_000_000
LONG = 30.0  # however busy this machine is


class Index:
    """An engine whose revision is a number, and which answers when it may."""

    def __init__(self) -> None:
        self.revision: int | None = 1
        self.requests = 0
        self.may_respond = asyncio.Event()
        self.may_respond.set()

    async def ask(self, _: Sequence[Platform]) -> bytes | None:
        """The revision when the request came."""
        self.requests += 1
        revision = None if self.revision is None else b"%d" % self.revision
        await self.may_respond.wait()
        return revision


class Cache:
    """A response cache with what a test wants to know about it."""

    def __init__(
        self,
        ask: Callable[[Sequence[Platform]], Awaitable[bytes | None]],
        max_bytes: int = MAX_BYTES,
        timeout: float = LONG,
    ) -> None:
        self.results: list[Result] = []
        revision = IndexRevision(ask, BackgroundTasks(), timeout)
        self.cache = ResponseCache(revision, self.results.append, max_bytes)

    async def get(self, request: bytes, response: bytes, platforms: tuple[Platform, ...] | None = PLATFORMS) -> bytes:
        """The cached response, or this one."""

        async def compute() -> bytes:
            return response

        return await self.cache.get_or_compute(("search", None, request), lambda: Computation(compute, platforms))


async def settled() -> None:
    """Lets all that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_caller_after_a_request_was_sent_gets_the_next_revision() -> None:
    index = Index()
    revision = IndexRevision(index.ask, BackgroundTasks(), LONG)
    index.may_respond.clear()
    first = asyncio.create_task(revision.current(PLATFORMS))
    await settled()
    index.revision = 2
    later = [asyncio.create_task(revision.current(PLATFORMS)) for _ in range(5)]
    await settled()
    assert index.requests == 1
    index.may_respond.set()
    assert await first == b"1"
    assert await asyncio.gather(*later) == [b"2"] * 5
    assert index.requests == 2


async def test_a_caller_that_goes_away_takes_nothing_from_the_others() -> None:
    index = Index()
    revision = IndexRevision(index.ask, BackgroundTasks(), LONG)
    index.may_respond.clear()
    leaves, stays = (asyncio.create_task(revision.current(PLATFORMS)) for _ in range(2))
    await settled()
    leaves.cancel()
    await settled()
    index.may_respond.set()
    assert await stays == b"1"
    assert await revision.current(PLATFORMS) == b"1"


async def test_a_response_that_met_a_change_is_not_taken_for_newer_than_it_is() -> None:
    index = Index()
    cache = Cache(index.ask)

    async def slow() -> bytes:
        index.revision = 2
        return b"of 1 or of 2"

    await cache.cache.get_or_compute(("search", None, b"request"), lambda: Computation(slow, PLATFORMS))
    assert await cache.get(b"request", b"of 2") == b"of 2"
    assert await cache.get(b"request", b"unused") == b"of 2"
    assert await cache.get(b"another", b"other") == b"other"
    assert cache.results == ["miss", "stale", "hit", "miss"]


async def test_the_least_recently_used_go_if_there_is_no_room() -> None:
    cache = Cache(Index().ask, max_bytes=6_000)
    for number in range(3):
        await cache.get(b"%d" % number, b"x" * 1_000)
    await cache.get(b"0", b"new")  # 0 is used, so 1 is the oldest
    await cache.get(b"3", b"x" * 1_000)
    await cache.get(b"huge", b"x" * 10_000)
    cache.results.clear()
    for request in (b"0", b"2", b"3"):
        assert await cache.get(request, b"new") == b"x" * 1_000
    assert await cache.get(b"1", b"new") == b"new"
    assert await cache.get(b"huge", b"new") == b"new"
    assert cache.results == ["hit", "hit", "hit", "miss", "miss"]


async def test_an_engine_that_reports_no_revision_in_time_is_searched() -> None:
    index = Index()
    cache = Cache(index.ask, timeout=0.05)
    await cache.get(b"request", b"response")
    index.may_respond.clear()
    assert await cache.get(b"request", b"a new response") == b"a new response"
    index.may_respond.set()
    await settled()
    assert await cache.get(b"request", b"unused") == b"a new response"
    assert cache.results == ["miss", "unknown", "hit"]


@pytest.mark.parametrize("error", [ApiError("search_unavailable"), RuntimeError("a bug"), KeyError("indices")])
async def test_the_cache_fails_open_whatever_the_engine_raises(error: Exception) -> None:
    async def broken(_: Sequence[Platform]) -> bytes | None:
        raise error

    cache = Cache(broken)
    for response in (b"first", b"second"):
        assert await cache.get(b"request", response) == response
    assert cache.results == ["miss", "miss"]


async def test_an_error_of_the_computation_is_raised_and_not_cached() -> None:
    cache = Cache(Index().ask)

    async def refuse() -> bytes:
        raise ApiError("search_unavailable")

    with pytest.raises(ApiError):
        await cache.cache.get_or_compute(("search", None, b"request"), lambda: Computation(refuse, PLATFORMS))
    assert await cache.get(b"request", b"response") == b"response"


async def test_what_must_not_be_cached_is_computed_each_time() -> None:
    index = Index()
    cache = Cache(index.ask)
    for response in (b"first", b"second"):
        assert await cache.get(b"request", response, platforms=None) == response
    assert index.requests == 0


async def test_without_room_nothing_is_cached_and_no_revision_asked_for() -> None:
    index = Index()
    cache = Cache(index.ask, max_bytes=0)
    for response in (b"first", b"second"):
        assert await cache.get(b"request", response) == response
    assert index.requests == 0


async def test_an_engine_that_forbids_the_question_is_asked_once() -> None:
    index = Index()
    index.revision = None
    cache = Cache(index.ask)
    with capture_logs() as logs:
        for response in (b"1", b"2", b"3"):
            assert await cache.get(b"request", response) == response
    assert index.requests == 1
    assert ["indices:monitor/stats" in entry["event"] for entry in logs] == [True]


class Searches:
    """Computations of one request that end when they may, with the revision that each began at."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.cache = Cache(index.ask)
        self.starts: list[bytes] = []
        self.counted = 0
        self.may_end = asyncio.Event()

    async def compute(self) -> bytes:
        response = b"%r" % self.index.revision
        self.starts.append(response)
        await self.may_end.wait()
        await settled()  # as one that asks an engine, it never ends at once
        return response

    def count(self) -> None:
        self.counted += 1

    def start(self, compute: Callable[[], Awaitable[bytes]] | None = None) -> asyncio.Task[bytes]:
        computation = Computation(compute or self.compute, PLATFORMS, self.count)
        return asyncio.create_task(self.cache.cache.get_or_compute(("search", None, b"request"), lambda: computation))


async def test_the_same_requests_at_once_are_computed_once_after_a_change() -> None:
    searches = Searches(Index())
    await searches.cache.get(b"request", b"old")
    searches.index.revision = 2
    await searches.cache.get(b"another", b"")  # notices the change
    running = [searches.start() for _ in range(8)]
    await settled()
    leaves = running.pop(3)
    leaves.cancel()
    searches.may_end.set()
    assert await asyncio.gather(*running) == [b"2"] * 7
    assert (searches.starts, searches.counted) == ([b"2"], 7)
    assert leaves.cancelled()
    assert searches.cache.results[2:] == ["stale", *["hit"] * 6]


async def test_who_comes_after_a_change_shares_only_a_computation_that_begins_later() -> None:
    searches = Searches(Index())
    first = searches.start()
    await settled()
    searches.index.revision = 2
    later = [searches.start() for _ in range(5)]
    await settled()
    assert searches.starts == [b"1"]
    searches.may_end.set()
    assert await asyncio.gather(first, *later) == [b"1", *[b"2"] * 5]
    assert (searches.starts, searches.counted) == ([b"1", b"2"], 6)


async def test_a_computation_that_fails_or_is_cancelled_is_nobody_elses() -> None:
    searches = Searches(Index())

    async def refuse() -> bytes:
        await searches.may_end.wait()
        raise ApiError("search_unavailable")

    for end in ("fails", "is cancelled"):
        searches.may_end.clear()
        searches.cache.cache.clear()
        first = searches.start(refuse)
        await settled()
        others = [searches.start() for _ in range(3)]
        await settled()
        if end == "is cancelled":
            first.cancel()
        searches.may_end.set()
        with pytest.raises(ApiError if end == "fails" else asyncio.CancelledError):
            await first
        assert await asyncio.gather(*others) == [b"1"] * 3
    assert searches.starts == [b"1"] * 2


async def test_texts_that_mean_something_else_by_now_are_not_answered_by_who_asked_before() -> None:
    searches = Searches(Index())
    first = searches.start()
    await settled()
    searches.cache.cache.clear()
    later = searches.start()
    await settled()
    searches.may_end.set()
    assert [await first, await later] == [b"1"] * 2
    assert searches.starts == [b"1"] * 2


async def test_a_computation_that_takes_long_holds_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "SHARED_SECONDS", 0.01)
    searches = Searches(Index())
    hung = searches.start(asyncio.Event().wait)  # type: ignore[arg-type]  # it never ends
    await settled()
    searches.may_end.set()
    assert await searches.start() == b"1"
    assert await searches.start() == b"1"
    assert searches.starts == [b"1"]
    hung.cancel()
