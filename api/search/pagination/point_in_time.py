"""The open points in time of one worker, and the cursors that read them.

The engine allows only so many points in time (`search.max_open_pit_context`, 300 a node by default; each shard counts
as one). So they are closed as soon as nobody can miss them, and under load cursors started close to each other share
one. That bounds the unused ones at about 110 a worker: MAX_OWN, and one each SHARED_SECONDS until the engine, which
looks once a minute, drops them. At shutdown those that were read to their end are closed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime

from msgspec import structs

from api.background.tasks import BackgroundTasks
from api.engine.client import Engine
from api.engine.errors import PitGoneError, TooManyPitsError
from api.engine.responses import OpenedPit
from api.errors import ApiError
from api.log import log
from api.search.context import PointInTime
from api.search.pagination.cursor import Cursor, decode, encode
from mappings.platforms import Platform
from store.auth import signing_keys
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable

KEEP_SECONDS = 300.0  # from the response that issued a cursor
MAX_AGE_SECONDS = 6 * 3600.0  # from a cursor's first page: it keeps the files of a replaced index
# The engine keeps a point in time longer than its cursors, which are issued one response later than its last use.
ENGINE_MARGIN_SECONDS = 30.0
# A client that missed the last page may ask for it again for so long before its point in time may be closed.
GRACE_SECONDS = 60.0
MAX_OWN = 30
SHARED_SECONDS = 5.0
CLOSE_SECONDS = 2.0  # at shutdown
KEY_NAME = "cursor"


@dataclass(frozen=True)
class _Shared:
    opened_at: float
    opening: "asyncio.Task[OpenedPit]"


class PointsInTime:
    """Opens and closes points in time, issues cursors and decodes them. Times are in seconds."""

    def __init__(
        self,
        engine: Engine,
        store: Store,
        tasks: BackgroundTasks,
        *,
        keep_seconds: float = KEEP_SECONDS,
        max_age_seconds: float = MAX_AGE_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._engine = engine
        self._store = store
        self._tasks = tasks
        self._keep_seconds = keep_seconds
        self._max_age_seconds = max_age_seconds
        self._engine_seconds = keep_seconds + ENGINE_MARGIN_SECONDS
        self._grace_seconds = grace_seconds
        self._key: bytes | None = None
        # when those were opened that we have not closed, by their ids, or by what stands for one that is being opened
        self._opened: dict[object, float] = {}
        self._released: dict[str, float] = {}  # when the last page of each was read
        self._shared: dict[tuple[int, ...], _Shared] = {}

    async def read_key(self) -> None:
        """Reads the key that signs cursors before the first one, so that they work without the store from then on."""
        with suppress(StoreUnavailable):
            await self._signing_key()

    async def issue(self, cursor: Cursor) -> str:
        """The token of a cursor that is issued now; raises StoreUnavailable."""
        now = _now_milliseconds()
        issued = structs.replace(cursor, issued_at=now, started_at=cursor.started_at or now)
        return encode(issued, await self._signing_key())

    async def decode(self, token: str) -> Cursor:
        """The cursor of a token; raises ApiError `validation_failed`, `cursor_expired`, and StoreUnavailable."""
        cursor = decode(token, await self._signing_key())
        now = _now_milliseconds()
        if now - cursor.issued_at > self._keep_seconds * 1000:
            raise ApiError("cursor_expired")
        if now - cursor.started_at > self._max_age_seconds * 1000:
            hours = f"{self._max_age_seconds / 3600:g}"
            raise ApiError("cursor_expired", f"the cursor was started more than {hours} hours ago: start a new one")
        return cursor

    async def open(self, platforms: Sequence[Platform]) -> PointInTime:
        """The items as they are now; raises ApiError `search_unavailable`.

        Under load it is one of a few seconds ago, which several cursors read.
        """
        now = time.monotonic()
        for expired_key in [key for key, opened_at in self._opened.items() if now - opened_at >= self._engine_seconds]:
            del self._opened[expired_key]
        await self._close_released(now - self._grace_seconds)
        if len(self._opened) < MAX_OWN:
            return self._point_in_time(await self._open_own(platforms), shared=False)
        key = tuple(platform.id for platform in platforms)
        shared = self._shared.get(key)
        if shared is None or now - shared.opened_at > SHARED_SECONDS or _failed(shared.opening):
            shared = _Shared(now, self._start_opening(platforms))
            self._shared[key] = shared
        return self._point_in_time(await asyncio.shield(shared.opening), shared=True)

    @asynccontextmanager
    async def own(self, platforms: Sequence[Platform]) -> AsyncIterator[PointInTime]:
        """The items as they are now, for one response; raises ApiError `search_unavailable`."""
        pit = self._point_in_time(await self._open_own(platforms), shared=False)
        try:
            yield pit
        except PitGoneError as error:
            raise ApiError("search_unavailable") from error
        finally:
            self._start_closing(pit.id)

    def resume(self, cursor: Cursor) -> PointInTime:
        return self._point_in_time(OpenedPit(cursor.pit, cursor.products), shared=cursor.shared)

    def _point_in_time(self, pit: OpenedPit, *, shared: bool) -> PointInTime:
        return PointInTime(self._engine, pit.id, shared, self._engine_seconds, pit.products)

    async def discard(self, pit: PointInTime) -> None:
        """Closes one that no cursor was issued for."""
        if not pit.shared:
            await self._close([pit.id])

    def release(self, pit: PointInTime) -> None:
        """Its last page was read: it is closed once nobody can ask for that page again."""
        if not pit.shared:
            self._released.setdefault(pit.id, time.monotonic())

    async def close(self) -> None:
        """Closes those whose last page was read; gives up after CLOSE_SECONDS.

        The others are read on at other workers, so that a restart ends no cursor, or else are closed by the engine.
        """
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._close_released(time.monotonic())
        except TimeoutError:
            log.warning("points in time were not closed; the engine closes them by itself")

    async def _open_own(self, platforms: Sequence[Platform]) -> OpenedPit:
        opening = self._start_opening(platforms, copy_context())  # with the deadline of the request
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:  # the engine opens it all the same
            opening.add_done_callback(self._release_unclaimed)
            raise

    def _release_unclaimed(self, opening: "asyncio.Task[OpenedPit]") -> None:
        if not _failed(opening):
            self._released[opening.result().id] = time.monotonic()

    def _start_opening(
        self, platforms: Sequence[Platform], context: Context | None = None
    ) -> "asyncio.Task[OpenedPit]":
        key = object()
        self._opened[key] = time.monotonic()  # before the engine answers, so that many at once count as many
        return self._tasks.start(self._open(key, platforms), context)

    async def _open(self, key: object, platforms: Sequence[Platform]) -> OpenedPit:
        try:
            pit = await self._open_in_engine(platforms)
            self._opened[pit.id] = time.monotonic()
            return pit
        finally:
            self._opened.pop(key, None)

    async def _open_in_engine(self, platforms: Sequence[Platform]) -> OpenedPit:
        try:
            return await self._engine.open_pit(platforms, self._engine_seconds, self._start_closing)
        except TooManyPitsError:
            if not self._released:
                raise
        await self._close_released(time.monotonic())
        return await self._engine.open_pit(platforms, self._engine_seconds, self._start_closing)

    async def _close_released(self, before: float) -> None:
        due = [pit for pit, released_at in self._released.items() if released_at <= before]
        for pit in due:
            del self._released[pit]
        if due:
            await self._close(due)

    def _start_closing(self, pit: str) -> None:
        """Closes it beside the request, which need not wait for that and has no deadline for it."""
        self._tasks.start(self._close([pit]))

    async def _close(self, pits: list[str]) -> None:
        try:
            await self._engine.close_pits(pits)
        except ApiError as error:
            log.info("points in time were not closed; the engine closes them by itself", cause=str(error))
        for pit in pits:
            self._opened.pop(pit, None)  # perhaps another worker opened it

    async def _signing_key(self) -> bytes:
        key = self._key
        if key is None:
            async with self._store.reading() as connection:
                key = await signing_keys.find(connection, KEY_NAME)
        if key is None:
            async with self._store.transaction() as connection:
                key = await signing_keys.find_or_create(connection, KEY_NAME, datetime.now(UTC))
        self._key = key  # only now: it is committed, and others may have read it meanwhile
        return key


def _now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def _failed(opening: "asyncio.Task[OpenedPit]") -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
