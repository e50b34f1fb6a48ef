"""The price lists of one worker: each is made once for an index revision, by one task, into a temporary file."""

import asyncio
import hashlib
import os
import tempfile
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Final

import orjson
from cachetools import LRUCache

from api.background.tasks import BackgroundTasks
from api.engine.responses import Json
from api.errors import ApiError
from api.log import log
from api.search.prices.representation import SEPARATOR
from api.search.response_cache import IndexRevision
from mappings.platforms import Platform

FRESH_SECONDS: Final = 10.0
"""So long after its beginning a list is given without asking whether the index has changed: it is work to make one."""
WAIT_SECONDS: Final = 60.0
MAX_LISTS: Final = 16
_READ_BYTES: Final = 256 * 1024
_ROWS_AT_ONCE: Final = 1_000

Key = tuple[int, str | None]
"""A platform, and the filters that the token forces."""
MakeRows = Callable[[], AsyncIterator[Json]]


@dataclass(eq=False)
class PriceList:
    """The rows of a list as JSON in a file that goes with this object, the hash of them, and until when it is fresh."""

    file: IO[bytes]
    digest: str
    revision: bytes | None
    fresh_until: float = 0.0

    def pieces(self) -> Iterator[bytes]:
        """The content of the file; several readers do not disturb each other."""
        position = 0
        while piece := os.pread(self.file.fileno(), _READ_BYTES, position):
            position += len(piece)
            yield piece


class PriceLists:
    """Price lists by platform and forced filters, the most recently used ones."""

    def __init__(
        self,
        revision: IndexRevision,
        tasks: BackgroundTasks,
        *,
        fresh_seconds: float = FRESH_SECONDS,
    ) -> None:
        self._revision = revision
        self._tasks = tasks
        self._fresh_seconds = fresh_seconds
        self._lists: LRUCache[Key, PriceList] = LRUCache(MAX_LISTS)
        self._in_flight: dict[Key, asyncio.Task[PriceList]] = {}
        self._clears = 0

    def clear(self) -> None:
        """Forgets all lists, also those that are being made: other names may be hidden now."""
        self._clears += 1
        self._lists.clear()
        self._in_flight.clear()

    async def current(self, key: Key, platform: Platform) -> PriceList | None:
        """The list if it is fresh or nothing has changed since; None if it must be made."""
        prices = self._lists.get(key)
        now = time.monotonic()
        if prices is None or now < prices.fresh_until:
            return prices
        revision = await self._revision.current([platform])
        if revision is None or revision != prices.revision:
            return None
        prices.fresh_until = now + self._fresh_seconds
        return prices

    async def make(self, key: Key, platform: Platform, rows: MakeRows) -> PriceList:
        """A new list; callers at the same time share one (single flight). Raises ApiError `search_unavailable`,
        `overloaded` where it takes longer than a minute (it is made all the same, for who asks again), or the disk has
        no room for it.
        """
        task = self._in_flight.get(key)
        if task is None:
            task = self._in_flight[key] = self._tasks.start(self._make(key, platform, rows, self._clears))
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                return await asyncio.shield(task)
        except TimeoutError as error:
            raise ApiError("overloaded", "the price list is still being made: ask again") from error

    async def _make(self, key: Key, platform: Platform, rows: MakeRows, clears: int) -> PriceList:
        started = time.monotonic()
        try:
            # the revision before the rows: a change meanwhile makes the list newer than it is taken for
            revision = await self._revision.current([platform])
            try:
                prices = await _written(rows(), revision)
            except OSError as error:
                log.error("a price list could not be written: is there room for temporary files?", error=str(error))
                raise ApiError("overloaded", "the price list could not be written: ask again later") from error
            if clears == self._clears:
                prices.fresh_until = started + self._fresh_seconds
                self._lists[key] = prices
            return prices
        finally:
            if clears == self._clears:  # else another task may make it by now
                del self._in_flight[key]


async def _written(rows: AsyncIterator[Json], revision: bytes | None) -> PriceList:
    digest = hashlib.sha256()
    separator = b""
    with ExitStack() as undo:
        file = undo.enter_context(tempfile.TemporaryFile(prefix="gear-prices-"))
        pieces: list[bytes] = []
        async for row in rows:
            pieces.append(separator + orjson.dumps(row))
            digest.update(pieces[-1])
            separator = SEPARATOR
            if len(pieces) == _ROWS_AT_ONCE:  # a disk may take its time
                await asyncio.to_thread(file.writelines, pieces)
                pieces.clear()
        await asyncio.to_thread(_end, file, pieces)
        prices = PriceList(file, digest.hexdigest()[:32], revision)
        weakref.finalize(prices, undo.pop_all().close)  # whoever is still reading it has a reference
    return prices


def _end(file: IO[bytes], pieces: list[bytes]) -> None:
    file.writelines(pieces)
    file.flush()
