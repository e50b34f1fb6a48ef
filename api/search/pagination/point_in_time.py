"""Cursors of one worker: platforms in, frozen views of their items out, and texts signed with the service's own key.

The engine takes only so many views (`search.max_open_pit_context`, 300 a node as it comes, each shard of a view counts
as one). So views are closed as soon as nobody can miss them, and in a crowd cursors started close to each other share
one. That bounds what nobody reads any more at about 110 views a worker: OWN_VIEWS, and one each SHARED_SECONDS until
the engine, which looks once a minute, lets go of an unused one.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from api.errors import ApiError, invalid
from api.search.engine.answers import TooManyViewsError
from api.search.engine.client import Engine
from api.search.pagination.cursor import Cursor, NotACursorError, View, expired, seal, unseal
from mappings.platforms import Platform
from store.auth import signing_keys
from store.connection.engine import Store

KEEP_SECONDS = 300.0  # from the answer that gave a cursor
# The engine keeps a view longer than its cursors, which are older than their view's last use by one answer's way.
ENGINE_MARGIN_SECONDS = 30.0
# Whoever missed the last page may ask for it again for so long before its view may be closed.
GRACE_SECONDS = 60.0
OWN_VIEWS = 30
SHARED_SECONDS = 5.0
KEY_NAME = "cursor"

log = structlog.get_logger("gear.api")


@dataclass(frozen=True)
class _Shared:
    opened_at: float
    view: "asyncio.Task[str]"


class Cursors:
    """Opens and closes views, signs cursors and makes them out again. Times are in seconds."""

    def __init__(self, engine: Engine, store: Store, keep_seconds: float = KEEP_SECONDS) -> None:
        self._engine = engine
        self._store = store
        self._keep_seconds = keep_seconds
        self._key: bytes | None = None
        self._opened: list[float] = []  # when a view was opened of which we do not know that it was closed
        self._ended: list[tuple[float, str]] = []
        self._shared: dict[tuple[int, ...], _Shared] = {}

    @property
    def engine_keep_seconds(self) -> float:
        """How long the engine keeps a view after each use."""
        return self._keep_seconds + ENGINE_MARGIN_SECONDS

    async def seal(self, cursor: Cursor) -> str:
        """The cursor as a text for clients; raises StoreUnavailable."""
        return seal(cursor, await self._signing_key())

    async def unseal(self, text: str) -> Cursor:
        """The cursor of this text; raises ApiError `validation_failed`, `cursor_expired`, and StoreUnavailable."""
        try:
            cursor = unseal(text, await self._signing_key())
        except NotACursorError as error:
            message = "is not a cursor of this service: send `*` or the `nextCursor` of an answer, unchanged"
            raise invalid("cursor", message) from error
        if now_milliseconds() - cursor.handed_out > self._keep_seconds * 1000:
            raise expired()
        return cursor

    async def open(self, platforms: Sequence[Platform]) -> View:
        """A view of the items as they are now; raises ApiError `search_unavailable`.

        In a crowd it is one of a few seconds ago, which several cursors read.
        """
        now = time.monotonic()
        self._opened = [at for at in self._opened if now - at < self.engine_keep_seconds]
        await self._close_ended(now - GRACE_SECONDS)
        if len(self._opened) < OWN_VIEWS:
            return View(await self._open(platforms), shared=False)
        key = tuple(platform.id for platform in platforms)
        shared = self._shared.get(key)
        if shared is None or now - shared.opened_at > SHARED_SECONDS or _failed(shared.view):
            shared = _Shared(now, asyncio.create_task(self._open(platforms)))
            self._shared[key] = shared
        return View(await asyncio.shield(shared.view), shared=True)

    async def close(self, view: View) -> None:
        """Ends a view at once that no cursor was given for."""
        if not view.shared:
            await self._close([view.id])

    def end(self, view: View) -> None:
        """The last page of a view was read: it may be closed once nobody asks for that page again."""
        if not view.shared and all(held != view.id for _, held in self._ended):
            self._ended.append((time.monotonic(), view.id))

    async def _open(self, platforms: Sequence[Platform]) -> str:
        at = time.monotonic()
        self._opened.append(at)  # before the engine answers, so that a crowd is seen as one while it comes in
        with ExitStack() as undo:
            undo.callback(self._opened.remove, at)
            view = await self._open_view(platforms)
            undo.pop_all()
        return view

    async def _open_view(self, platforms: Sequence[Platform]) -> str:
        try:
            return await self._engine.open_view(platforms, self.engine_keep_seconds)
        except TooManyViewsError:
            if not self._ended:
                raise
        await self._close_ended(time.monotonic())
        return await self._engine.open_view(platforms, self.engine_keep_seconds)

    async def _close_ended(self, before: float) -> None:
        due = [view for at, view in self._ended if at <= before]
        self._ended = [(at, view) for at, view in self._ended if at > before]
        if due:
            await self._close(due)

    async def _close(self, views: list[str]) -> None:
        try:
            await self._engine.close_views(views)
        except ApiError as error:
            log.info("views that nobody reads were not closed; the engine closes them by itself", cause=str(error))
        del self._opened[: len(views)]

    async def _signing_key(self) -> bytes:
        if self._key is None:
            async with self._store.reading() as connection:
                self._key = await signing_keys.find(connection, KEY_NAME)
        if self._key is None:
            async with self._store.transaction() as connection:
                self._key = await signing_keys.find_or_create(connection, KEY_NAME, datetime.now(UTC))
        return self._key


def now_milliseconds() -> int:
    """Milliseconds since 1970: cursors are dated so that every machine reads the same."""
    return time.time_ns() // 1_000_000


def _failed(opening: "asyncio.Task[str]") -> bool:
    return opening.done() and (opening.cancelled() or opening.exception() is not None)
