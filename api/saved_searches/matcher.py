"""The matcher: one of all workers asks the log of changes with every saved search, and queues what it finds.

Its place in the log moves in the transaction that queues the callbacks: each match is queued once, whenever it stops.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Final

import structlog

from api.changes.entries import changes_of
from api.changes.log import MAX_SIDES, ChangeLog
from api.changes.tail import Tail
from api.engine.errors import NotLoadedError
from api.engine.feed import FeedEngine, MatchedEntry
from api.errors import ApiError
from api.orders.worker import PeriodicWorker, running
from api.saved_searches.compiled import NOTHING, bodies_of, clause_of, cut, found_by, request_of
from mappings.platforms import Platforms
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.feeds import Feed, Segment
from store.saved_searches import matching, searches
from store.saved_searches.matching import MovedError, Place
from store.saved_searches.searches import SavedSearch

TICK_SECONDS: Final = 0.5
IDLE_SECONDS: Final = 2.0  # while there is no search, or another worker matches
LEASE_SECONDS: Final = 10.0
RENEW_SECONDS: Final = 3.0
MAX_CHANGES: Final = 2000  # of one request: with both sides less than the engine's most hits
CLAUSES: Final = 20  # searches of one request: the engine takes 1,024 clauses
MAX_AT_ONCE: Final = 4  # at the same time
MATCHES: Final = 20_000  # of one transaction
CHANGES_A_CALLBACK: Final = 100
COMPILED_AT_ONCE: Final = 20  # then others have the event loop

log = structlog.get_logger("gear.api")


class Matcher:
    """Ticks while it has the lease. `on_match` is called after callbacks were queued."""

    def __init__(
        self,
        engine: FeedEngine,
        store: Store,
        platforms: Platforms,
        change_log: ChangeLog,
        tail: Tail,
    ) -> None:
        self._engine = engine
        self._store = store
        self._platforms = platforms
        self._log = change_log
        self.name = change_log.feed
        self._tail = tail
        self._owner = secrets.token_hex(8)
        self._leased_at = float("-inf")
        self._clauses: dict[str, bytes | None] = {}
        self.on_match: Callable[[], None] = lambda: None
        self.worker = PeriodicWorker("saved searches", self.run_once)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Matches while the block lasts, where no other worker does."""
        async with running(self.worker):
            yield
        with suppress(StoreUnavailable):  # the lease ends by itself
            async with self._store.transaction() as connection:
                await matching.release(connection, self.name, self._owner)

    def forget_clauses(self) -> None:
        """The vocabulary has changed: texts are read anew."""
        self._clauses.clear()

    async def run_once(self) -> float:
        """One tick, if this worker has the lease; returns the seconds until the next. Raises StoreUnavailable."""
        try:
            if not await self._is_leased():
                return IDLE_SECONDS
            return 0.0 if await self._tick() else TICK_SECONDS
        except MovedError:
            self._leased_at = float("-inf")
            log.info("another worker matches saved searches")
        except ApiError as error:
            log.warning("saved searches cannot be matched now", cause=str(error))
        return TICK_SECONDS

    async def _is_leased(self) -> bool:
        """Whether there is a search, and this worker may match it."""
        now = datetime.now(UTC)
        async with self._store.reading() as connection:
            if not await searches.any_live(connection, now):
                return False
            if time.monotonic() - self._leased_at < RENEW_SECONDS:
                return True
            if await matching.leased_elsewhere(connection, self.name, self._owner, now):
                return False
        async with self._store.transaction() as connection:
            if not await matching.lease(connection, self.name, self._owner, now, LEASE_SECONDS):
                return False
        self._leased_at = time.monotonic()
        return True

    async def _tick(self) -> bool:
        """Matches the next changes; whether there may be more."""
        feed = await self._tail.find()
        if feed is None or feed.state is None or not feed.segments:
            await self._tail.now()  # begins it
            feed = await self._tail.find()
            if feed is None or not feed.segments:
                return False
        # read after the feed: a search that is not among them was saved after what is matched now was committed
        async with self._store.reading() as connection:
            before = await matching.place(connection, self.name)
            is_behind = (before.segment, before.seq) != (feed.newest.id, feed.committed)
            live = await searches.live(connection, datetime.now(UTC)) if is_behind else []
        if not is_behind:
            return False
        ahead = following(feed, before)
        if ahead is None:
            await self._begin_anew(feed, before)
            return False
        segment, last = ahead
        try:
            await self._match(segment, before, last, live)
        except NotLoadedError:
            await self._begin_anew(feed, before)
        return True

    async def _begin_anew(self, feed: Feed, before: Place) -> None:
        async with self._store.transaction() as connection:
            await matching.go_on(connection, self.name, before, Place(feed.newest.id, feed.committed))
            await matching.miss_all(connection, datetime.now(UTC))
        log.error("the log of changes is gone: saved searches go on from now, and their gapAt says so")

    async def _match(self, segment: Segment, before: Place, last: int, live: Sequence[SavedSearch]) -> None:
        """Queues what the searches find in the changes up to `last` of a log, or in fewer where that is much."""
        clauses, missed = await self._compiled(live)
        entries, refused = await self._ask_all(segment, clauses, before.seq, last) if last > before.seq else ([], [])
        since = {search.id: search.since for search in live}
        found = {each: [seq for seq in seqs if seq > since[each]] for each, seqs in found_by(entries).items()}
        last = cut(found, last, MATCHES)
        told = {each: [seq for seq in seqs if seq <= last] for each, seqs in found.items()}
        contents = await self._contents(segment, sorted({seq for seqs in told.values() for seq in seqs}))
        bodies = {each: bodies_of(seqs, contents, CHANGES_A_CALLBACK) for each, seqs in told.items() if seqs}
        async with self._store.transaction() as connection:
            now = datetime.now(UTC)
            await matching.go_on(connection, self.name, before, Place(segment.id, last))
            await matching.tell(connection, bodies, now)
            await matching.miss(connection, [*missed, *refused], now)
        if bodies:
            self.on_match()

    async def _compiled(self, live: Sequence[SavedSearch]) -> tuple[dict[str, bytes], list[str]]:
        """The clauses of the searches by their ids, and those of which this version makes none."""
        clauses, self._clauses = self._clauses, {}
        for number, search in enumerate(live):
            if search.id in clauses:
                self._clauses[search.id] = clauses[search.id]
                continue
            self._clauses[search.id] = clause_of(self._engine, self._platforms, search)
            if number % COMPILED_AT_ONCE == 0:
                await asyncio.sleep(0)
        known = {each: clause for each, clause in self._clauses.items() if clause is not None}
        return known, [each for each, clause in self._clauses.items() if clause is None]

    async def _ask_all(
        self, segment: Segment, clauses: Mapping[str, bytes], after: int, last: int
    ) -> tuple[list[MatchedEntry], list[str]]:
        """The sides of the changes (after, last] that searches match, and the searches that the engine refuses."""
        listed = list(clauses.items())
        parts = [listed[begin : begin + CLAUSES] for begin in range(0, len(listed), CLAUSES)]
        entries: list[MatchedEntry] = []
        refused: list[str] = []
        for begin in range(0, len(parts), MAX_AT_ONCE):
            if not await self._is_leased():
                raise MovedError
            asked = (self._ask(segment, part, after, last, refused) for part in parts[begin : begin + MAX_AT_ONCE])
            for found in await asyncio.gather(*asked):
                entries += found
        return entries, refused

    async def _ask(
        self, segment: Segment, part: Sequence[tuple[str, bytes]], after: int, last: int, refused: list[str]
    ) -> list[MatchedEntry]:
        """The sides that these searches match. Where the engine refuses, it is asked with half of them: together they
        may have more clauses than it takes.
        """
        log_name = self._log.name(segment.id)
        try:
            return await self._engine.matched(log_name, request_of([clause for _, clause in part], after, last))
        except ApiError:
            if len(part) > 1:
                half = len(part) // 2
                first = await self._ask(segment, part[:half], after, last, refused)
                return first + await self._ask(segment, part[half:], after, last, refused)
            await self._engine.matched(log_name, request_of([NOTHING], after, last))  # or it is the engine's fault
            log.exception("a saved search cannot be matched", search=part[0][0])
            refused.append(part[0][0])
            return []

    async def _contents(self, segment: Segment, seqs: Sequence[int]) -> dict[int, bytes]:
        """The changes of these numbers as JSON."""
        if not seqs:
            return {}
        size = MAX_SIDES * len(seqs) + 1
        sort = [{"seq": "asc"}, {"side": "asc"}]
        body = {"query": {"terms": {"seq": list(seqs)}}, "sort": sort, "size": size, "track_total_hits": False}
        entries = await self._engine.entries(self._log.name(segment.id), body)
        changes, _ = changes_of(entries, size, with_platform=True)
        return {change.seq: change.content for change in changes}


def following(feed: Feed, place: Place) -> tuple[Segment, int] | None:
    """The log to read after a place, and up to which change; None where the place is in no log of the feed."""
    at = next((at for at, each in enumerate(feed.segments) if each.id == place.segment), None)
    if at is None or not feed.segments[at].first - 1 <= place.seq <= feed.segments[at].last:
        return None
    unread = (each for each in feed.segments[at:] if each.last > place.seq)
    segment = next(unread, feed.newest)
    return segment, min(segment.last, place.seq + MAX_CHANGES)
