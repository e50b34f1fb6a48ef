"""Response cache, keyed by the operation and the raw request, and valid while the index revision is unchanged.

A cached response is given only if the engine, asked after the request came, reports that no copy of any shard shows
anything new: it is never older than one that the engine would give. The cache fails open: whatever the question for the
revision ends with, the response is computed. Requests that are the same share a computation, as long as it is valid for
those who came after its beginning, or they share the next one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from cachetools import LRUCache

from api.background.coalescing import CoalescedRuns
from api.background.tasks import BackgroundTasks
from api.errors import ApiError
from api.log import log
from mappings.platforms import Platform

REVISION_SECONDS = 0.1  # more than most searches take: an engine too busy to tell its revision is searched instead
SHARED_SECONDS = 0.5  # a computation of another request that takes longer is not waited for
_ENTRY_BYTES = 800  # of a short key and the objects around a response, by sys.getsizeof

# The revision of the platforms' indices; None if the engine does not permit the question.
AskRevision = Callable[[Sequence[Platform]], Awaitable[bytes | None]]
Compute = Callable[[], Awaitable[bytes]]
Result = Literal["hit", "stale", "unknown", "miss"]
# The operation, the filters that the token forces, and the raw request: no request of one is a request of another.
RequestKey = tuple[str, str | None, bytes]
_Key = tuple[int, ...]


class IndexRevision:
    """The revision of indices. Callers that arrive before the next request to the engine share it."""

    def __init__(self, ask: AskRevision, tasks: BackgroundTasks, timeout: float = REVISION_SECONDS) -> None:
        self._ask = ask
        self._tasks = tasks
        self._timeout = timeout
        self._runs: dict[_Key, CoalescedRuns[bytes | None]] = {}
        self._last: dict[_Key, bytes] = {}
        self._forbidden = False

    def last(self, platforms: Sequence[Platform]) -> bytes | None:
        """The revision that the engine reported last."""
        return self._last.get(_key(platforms))

    async def current(self, platforms: Sequence[Platform]) -> bytes | None:
        """The revision at a moment after this call; None if the engine does not report it, or not in time."""
        if self._forbidden:
            return None
        key = _key(platforms)
        runs = self._runs.get(key)
        if runs is None:
            runs = self._runs[key] = CoalescedRuns(self._tasks, partial(self._request, key, platforms))
        try:
            async with asyncio.timeout(self._timeout):
                return await runs.result()
        except TimeoutError:
            return None

    async def _request(self, key: _Key, platforms: Sequence[Platform]) -> bytes | None:
        try:
            revision = await self._ask(platforms)
        except Exception as error:
            is_api_error = isinstance(error, ApiError)  # its cause has been logged
            log.warning("the index revision is unknown: responses are computed", exc_info=not is_api_error)
            return None
        if revision is None:
            self._forbidden = True
            log.warning("no responses are cached: allow the engine's user indices:monitor/stats, then start again")
        else:
            self._last[key] = revision
        return revision


@dataclass(frozen=True)
class Computation:
    """How to compute a response, and the platforms whose indices it depends on; None: it must not be cached."""

    compute: Compute
    platforms: tuple[Platform, ...] | None
    on_response: Callable[[], None] | None = None
    """Called for each response that is given, cached ones too."""


@dataclass(frozen=True)
class _Entry:
    platforms: tuple[Platform, ...]
    revision: bytes | None
    response: bytes
    size: int
    on_response: Callable[[], None] | None


_InFlight = asyncio.Future[_Entry | None]
"""One computation, and in the end its entry; None if it failed, or texts mean something else by then."""


class ResponseCache:
    """The most recently used responses of one worker, up to a number of bytes; 0 disables it."""

    def __init__(self, revision: IndexRevision, count: Callable[[Result], None], max_bytes: int) -> None:
        self._revision = revision
        self._count = count
        self._max_bytes = max_bytes
        self._entries: LRUCache[RequestKey, _Entry] = LRUCache(max_bytes, getsizeof=lambda entry: entry.size)
        self._in_flight: dict[RequestKey, _InFlight] = {}
        self._clears = 0

    async def get_or_compute(self, key: RequestKey, prepare: Callable[[], Computation]) -> bytes:
        """The cached response to a raw request if it is still valid, else a computed one; raises what computing raises.

        `prepare` is called only for a response that has to be computed.
        """
        result, entry = await self._get(key)
        if entry is None and (computing := self._in_flight.get(key)) is not None:
            result, entry = await self._shared(key, computing)
        self._count(result)
        if entry is None:
            entry = await self._compute(key, prepare)
        if entry.on_response is not None:
            entry.on_response()
        return entry.response

    async def _shared(self, key: RequestKey, computing: _InFlight) -> tuple[Result, _Entry | None]:
        """What others compute for the same request: still valid, or begun after this one came."""
        await asyncio.wait([computing], timeout=SHARED_SECONDS)
        result, entry = await self._get(key)
        if entry is None and computing.done() and (later := self._in_flight.get(key)) is not None:
            await asyncio.wait([later], timeout=SHARED_SECONDS)
            entry = later.result() if later.done() else None
        return result if entry is None else "hit", entry

    async def _compute(self, key: RequestKey, prepare: Callable[[], Computation]) -> _Entry:
        clears, computation = self._clears, prepare()
        platforms = computation.platforms if self._max_bytes else None
        revision = None
        if platforms is not None:
            # The revision before computing: a change meanwhile makes the response newer than it is taken for.
            revision = self._revision.last(platforms) or await self._revision.current(platforms)
        flight: _InFlight = asyncio.get_running_loop().create_future()
        if revision is not None:
            self._in_flight.setdefault(key, flight)
        valid = None
        try:
            response = bytes(memoryview(await computation.compute()))  # what orjson has written has room for twice
            size = len(key[2]) + len(response) + _ENTRY_BYTES
            entry = _Entry(platforms or (), revision, response, size, computation.on_response)
            if revision is not None and clears == self._clears:
                valid = entry
                if size <= self._max_bytes:
                    self._entries[key] = entry
            return entry
        finally:
            if self._in_flight.get(key) is flight:
                del self._in_flight[key]
            flight.set_result(valid)

    def clear(self) -> None:
        """Forgets all responses, also those that are being computed: texts mean something else now."""
        self._clears += 1
        self._entries.clear()

    async def _get(self, key: RequestKey) -> tuple[Result, _Entry | None]:
        entry = self._entries.get(key)
        if entry is None:
            return "miss", None
        last = self._revision.last(entry.platforms)
        # an entry of an older revision needs no question
        revision = await self._revision.current(entry.platforms) if last == entry.revision else last
        if revision is None:
            return "unknown", None
        if revision != entry.revision:
            return "stale", None
        return "hit", entry


def _key(platforms: Sequence[Platform]) -> _Key:
    return tuple(platform.id for platform in platforms)
