"""The frequent values of one worker: counted in the background, and again once in a while where the index has changed.

Old counts decide which values are counted for a suggestion, and never what its count is.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Final

from cachetools import LRUCache

from api.background.tasks import BackgroundTasks
from api.engine.responses import SearchEngine
from api.errors import ApiError
from api.log import log
from api.search.response_cache import IndexRevision
from api.search.suggest.requests import Counts, FrequentValues, counts_of, frequent_request, uncounted_of
from mappings.fields import SUGGESTED
from mappings.platforms import Platform

MAX_COUNTED: Final = 10_000
"""Of each kind; some 7 MB for all."""
FRESH_SECONDS: Final = 10.0
FRESH_TIMES: Final = 100
"""Counts that took a second are counted again after 100: each worker takes the engine a hundredth of its time."""
MAX_PLATFORMS: Final = 16  # or groups of platforms


_Key = tuple[int, ...]


@dataclass(frozen=True)
class _Counted:
    """What was counted at an index revision, how often anything had been counted by then, and until when it is used."""

    values: FrequentValues
    revision: bytes | None
    number: int
    usable_until: float


class FrequentValueCounts:
    """The frequent values of platforms, the most recently used ones."""

    def __init__(
        self,
        engine: SearchEngine,
        revision: IndexRevision,
        tasks: BackgroundTasks,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._engine = engine
        self._revision = revision
        self._tasks = tasks
        self._clock = clock
        self._counted: LRUCache[_Key, _Counted] = LRUCache(MAX_PLATFORMS)
        self._due: dict[_Key, float] = {}  # when to count again; infinite while it is counted
        self._number = 0

    def of(self, platforms: Sequence[Platform]) -> tuple[FrequentValues | None, int]:
        """The frequent values of these platforms, and a number that changes with them.

        None, 0 until they are counted, which begins with the first call.
        """
        key = tuple(platform.id for platform in platforms)
        now = self._clock()
        if now >= self._due.get(key, now):
            self._due[key] = math.inf
            self._tasks.start(self._count(key, platforms))
        counted = self._counted.get(key)
        if counted is None or now >= counted.usable_until:
            return None, 0
        return counted.values, counted.number

    async def _count(self, key: _Key, platforms: Sequence[Platform]) -> None:
        began = self._clock()
        try:
            revision = await self._revision.current(platforms)
            values, number = await self._values(key, platforms, revision)
            fresh = self._fresh_seconds(began)
            self._counted[key] = _Counted(values, revision, number, self._clock() + 2 * fresh)
        except ApiError:  # suggestions do without, and say what is wrong with the engine
            log.warning("frequent values were not counted: suggestions are counted among all values")
        finally:
            self._due[key] = self._clock() + self._fresh_seconds(began)

    def _fresh_seconds(self, began: float) -> float:
        return max(FRESH_SECONDS, FRESH_TIMES * (self._clock() - began))

    async def _values(
        self, key: _Key, platforms: Sequence[Platform], revision: bytes | None
    ) -> tuple[FrequentValues, int]:
        """The frequent values at a revision and their number: the last ones where nothing has changed since."""
        last = self._counted.get(key)
        if last is not None and revision is not None and last.revision == revision:
            return last.values, last.number
        counts: dict[str, Counts] = {}
        uncounted = 0
        for row in SUGGESTED:  # one after the other: suggestions meanwhile wait for one at most
            (response,) = await self._engine.search_all(platforms, [frequent_request(row, MAX_COUNTED)])
            counts[row.kind] = counts_of(response)
            uncounted = max(uncounted, uncounted_of(response))
        self._number += 1
        return await asyncio.to_thread(FrequentValues, counts, uncounted), self._number
