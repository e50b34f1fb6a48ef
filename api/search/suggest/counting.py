"""The frequent values of one worker: counted in the background, and counted again once in a while.

Old counts decide which values are counted for a suggestion, and never what its count is.
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

import structlog
from cachetools import LRUCache

from api.background import BackgroundTasks
from api.engine.responses import SearchEngine
from api.errors import ApiError
from api.search.suggest.frequent_values import Counts, FrequentValues
from api.search.suggest.requests import counts_of, frequent_request
from mappings.fields import SUGGESTED
from mappings.platforms import Platform

MAX_VALUES: Final = 10_000
"""Of each kind; some megabytes for all."""
FRESH_SECONDS: Final = 10.0
FRESH_TIMES: Final = 100
"""Counts that took a second are counted again after 100: it takes the engine a hundredth of its time at most."""
MAX_PLATFORMS: Final = 16  # or groups of platforms

log = structlog.get_logger("gear.api")

_Key = tuple[int, ...]
_Counted = tuple[float, float, FrequentValues | None]
"""When to count again, until when to use it, and what was counted; None: that failed."""


class FrequentValueCounts:
    """The frequent values of platforms, the most recently used ones."""

    def __init__(self, engine: SearchEngine, tasks: BackgroundTasks, clock: Callable[[], float] = monotonic) -> None:
        self._engine = engine
        self._tasks = tasks
        self._clock = clock
        self._counted: LRUCache[_Key, _Counted] = LRUCache(MAX_PLATFORMS)
        self._in_flight: set[_Key] = set()

    def of(self, platforms: Sequence[Platform]) -> FrequentValues | None:
        """The frequent values of these platforms; None until they are counted, which begins with the first call."""
        key = tuple(platform.id for platform in platforms)
        now = self._clock()
        due, usable_until, values = self._counted.get(key, (now, now, None))
        if now >= due and key not in self._in_flight:
            self._in_flight.add(key)
            self._tasks.start(self._count(key, platforms))
        return values if now < usable_until else None

    async def _count(self, key: _Key, platforms: Sequence[Platform]) -> None:
        began, values = self._clock(), None
        try:
            counts: dict[str, Counts] = {}
            for row in SUGGESTED:  # one after the other: suggestions meanwhile wait for one at most
                (response,) = await self._engine.search_all(platforms, [frequent_request(row, MAX_VALUES)])
                counts[row.kind] = counts_of(response)
            values = await asyncio.to_thread(FrequentValues, counts, MAX_VALUES)
        except ApiError:  # suggestions do without, and say what is wrong with the engine
            log.warning("frequent values were not counted: suggestions are counted among all values")
        finally:
            now = self._clock()
            fresh = max(FRESH_SECONDS, FRESH_TIMES * (now - began))
            self._counted[key] = (now + fresh, now + 2 * fresh, values)
            self._in_flight.discard(key)
