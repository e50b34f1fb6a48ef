"""The matcher: one of all workers asks the log of changes with every saved search, and queues what it finds.

Its position in the log moves in the transaction that queues callbacks: each match is queued once, whenever it stops.
"""

import asyncio
import operator
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from typing import Final

from opensearchpy.exceptions import TransportError

from api.background.tasks import gather_or_cancel
from api.background.workers import PeriodicWorker
from api.changes.entries import Side, changes_of
from api.changes.feed import ChangeFeed
from api.changes.lease import Lease
from api.changes.log import MAX_SIDES, segments_from
from api.engine.errors import NotLoadedError
from api.engine.feed import MatchedEntry
from api.errors import ApiError
from api.log import log
from api.saved_searches.compiled import (
    NOTHING,
    ClauseCache,
    Compiled,
    bodies_of,
    last_within,
    read_request,
    request_of,
    sequences_by_clause,
)
from api.saved_searches.prefilter import Batch, Fields, new_candidates, set_bits
from mappings.platforms import Platforms
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.feeds import Feed, Segment
from store.leases import LeaseLostError
from store.records import LogPosition
from store.saved_searches import matching, searches

TICK_SECONDS: Final = 0.5
IDLE_SECONDS: Final = 2.0  # while there is no search, or another worker matches
LEASE_SECONDS: Final = 10.0
RENEW_SECONDS: Final = 3.0
RETRY_SECONDS: Final = 1.0  # after an unexpected error

MAX_CLAUSES: Final = 20  # searches of one request: the engine takes 1,024 clauses
MAX_AT_ONCE: Final = 4  # at the same time
MAX_PREFILTERED: Final = 500


@dataclass(frozen=True)
class MatcherLimits:
    """How much is done at once, and how often it is tried."""

    max_changes: int = 2000  # of one request: with both sides less than the engine's most hits
    max_matches: int = 20_000  # of one transaction
    max_changes_a_callback: int = 100
    max_read: int = 500  # searches that are new to this worker
    max_failures: int = 10  # one after the other, of ever smaller batches, until one change is skipped


MATCHER_LIMITS: Final = MatcherLimits()


class Matcher:
    """Ticks while it has the lease. `on_match` is called after callbacks were queued."""

    def __init__(
        self,
        feed: ChangeFeed,
        store: Store,
        platforms: Platforms,
        set_lag: Callable[[float], None],
        limits: MatcherLimits,
    ) -> None:
        self._engine = feed.engine
        self._store = store
        self._log = feed.log
        self.name = feed.log.feed
        self._tail = feed.tail
        self._set_lag = set_lag
        self._all_matched_at = time.monotonic()
        self.lease = Lease(store, matching.LEASES, self.name, LEASE_SECONDS, RENEW_SECONDS)
        self._fields = Fields(feed.engine.properties)
        self.clauses = ClauseCache(feed.engine, store, platforms, self._fields, limits.max_read)
        self._failing: LogPosition | None = None  # the last change of the smallest batch that failed unexpectedly
        self._failures = 0  # one after the other
        self._limits = limits
        self.on_match: Callable[[], None] = lambda: None
        self.worker = PeriodicWorker("saved searches", self.run_once, retry_seconds=RETRY_SECONDS)

    async def run_once(self) -> float:
        """One tick, if this worker has the lease; returns the seconds until the next. Raises StoreUnavailable."""
        try:
            if not await self._is_leased():
                self._measure(has_more=False)
                return IDLE_SECONDS
            has_more = await self._tick()
            self._measure(has_more=has_more)
            return 0.0 if has_more else TICK_SECONDS
        except LeaseLostError:
            self.lease.lose()
            self._measure(has_more=False)
            log.info("another worker matches saved searches")
            return TICK_SECONDS
        except ApiError as error:
            log.warning("saved searches cannot be matched now", cause=str(error))
        self._measure(has_more=True)
        return TICK_SECONDS

    def _measure(self, *, has_more: bool) -> None:
        if not has_more:
            self._all_matched_at = time.monotonic()
        self._set_lag(time.monotonic() - self._all_matched_at if has_more else 0.0)

    async def _is_leased(self) -> bool:
        """Whether there is a search, and this worker may match it."""
        async with self._store.reading() as connection:
            if not await searches.any_live(connection, datetime.now(UTC)):
                return False
            if self.lease.is_fresh:
                return True
            if await self.lease.is_elsewhere(connection):
                return False
        return await self.lease.take(lambda connection: matching.ensure(connection, self.name))

    async def _tick(self) -> bool:
        """Matches the next changes; whether there may be more."""
        feed = await self._tail.recorded()
        # read after the feed: a search that is not among them was saved after what is matched now was committed
        async with self._store.reading() as connection:
            before = await matching.position(connection, self.name)
            has_more = before != feed.end
            live = await searches.live(connection, datetime.now(UTC)) if has_more else {}
        if not has_more:
            return False
        segments = segments_from(feed, before)
        if not segments:
            await self._begin_anew(feed, before)
            return False
        segment = next((each for each in segments if each.last > before.seq), feed.newest)
        last = self._narrowed(segment, before, min(segment.last, before.seq + self._limits.max_changes))
        try:
            await self._match(segment, before, last, live)
        except NotLoadedError:
            await self._begin_anew(feed, before)
        except (ApiError, StoreUnavailable, LeaseLostError):
            raise
        except Exception:
            self._failing, self._failures = LogPosition(segment.id, last), self._failures + 1
            if last > before.seq + 1 or self._failures < self._limits.max_failures:
                self._measure(has_more=True)
                raise  # the worker logs it, and less is tried next
            log.exception("a change cannot be matched: saved searches miss it, and their gapAt says so; report it")
            await self._skip(before, self._failing)
        return True

    def _narrowed(self, segment: Segment, before: LogPosition, last: int) -> int:
        """Up to which change to match: after an unexpected error up to the middle of what failed."""
        failing = self._failing
        if failing is None or failing.segment != segment.id or failing.seq <= before.seq:
            self._failing, self._failures = None, 0
            return last
        return min(last, before.seq + max(1, (failing.seq - before.seq) // 2))

    async def _begin_anew(self, feed: Feed, before: LogPosition) -> None:
        await self._skip(before, feed.end)
        log.error("the log of changes is gone: saved searches go on from now, and their gapAt says so")

    async def _skip(self, before: LogPosition, after: LogPosition) -> None:
        """Goes on without what is between two positions."""
        async with self._store.transaction() as connection:
            await matching.advance(connection, self.name, before, after)
            await matching.mark_all_gaps(connection, datetime.now(UTC))

    async def _match(self, segment: Segment, before: LogPosition, last: int, live: Mapping[str, int]) -> None:
        """Queues what the searches find in the changes up to `last` of a log, or in fewer where that is much."""
        searches_of, missed = await self.clauses.read(live)
        seqs_of: dict[str, list[int]] = {}
        if last > before.seq:
            candidates = await self._prefiltered(segment, list(searches_of), before.seq, last)
            matches, refused, last = await self._ask_all(
                segment, range(before.seq + 1, last + 1), candidates, searches_of
            )
            for clause, seqs in matches.items():
                for each in searches_of[clause]:
                    seqs_of[each] = [seq for seq in seqs if live[each] < seq <= last]
            for each in (each for clause in refused for each in searches_of[clause]):
                log.error("a saved search cannot be matched", search=each)
                missed.append(each)
        contents = await self._contents(segment, sorted({seq for seqs in seqs_of.values() for seq in seqs}))
        size = self._limits.max_changes_a_callback
        bodies = {each: bodies_of(seqs, contents, size) for each, seqs in seqs_of.items() if seqs}
        async with self._store.transaction() as connection:
            now = datetime.now(UTC)
            await matching.advance(connection, self.name, before, LogPosition(segment.id, last))
            await matching.queue_callbacks(connection, bodies, now)
            await matching.mark_gaps(connection, missed, now)
        if bodies:
            self.on_match()

    async def _prefiltered(
        self, segment: Segment, clauses: Sequence[Compiled], after: int, last: int
    ) -> list[tuple[Compiled, int]]:
        """Those that the changes (after, last] may concern, each with the set of these changes by their positions;
        similar ones are neighbours.
        """
        log_name = self._log.name(segment.id)
        sides: dict[int, dict[int, Mapping[str, Sequence[object]]]] = {Side.BEFORE: {}, Side.AFTER: {}}
        for entry in await self._engine.matched(log_name, read_request(self._fields.read, after, last)):
            sides[entry.side][entry.seq - after - 1] = entry.fields
        before, now = Batch(self._fields, sides[Side.BEFORE]), Batch(self._fields, sides[Side.AFTER])
        selected: list[tuple[Compiled, int]] = []
        has_failed = False
        for number, clause in enumerate(clauses):
            try:
                candidates = new_candidates(clause.prefilter, before, now)
            except Exception:  # the engine alone decides
                if not has_failed:  # others fail for the same reason
                    log.exception("saved searches are not prefiltered; report it")
                has_failed = True
                candidates = now.all
            if candidates:
                selected.append((clause, candidates))
            if number % MAX_PREFILTERED == 0:
                await asyncio.sleep(0)
        return sorted(selected, key=lambda each: each[1])

    async def _ask_all(
        self,
        segment: Segment,
        changes: range,
        candidates: Sequence[tuple[Compiled, int]],
        searches_of: Mapping[Compiled, Sequence[str]],
    ) -> tuple[dict[Compiled, list[int]], list[Compiled], int]:
        """The changes that each clause matches, the clauses that the engine refuses, and the last change up to which
        these are complete: as soon as there are more matches than one transaction takes, fewer changes are asked for.
        """
        matches: dict[Compiled, list[int]] = {}
        counts, refused = Counter[int](), list[int]()
        listed = [(number, clause, bits) for number, (clause, bits) in enumerate(candidates)]
        parts = [listed[begin : begin + MAX_CLAUSES] for begin in range(0, len(listed), MAX_CLAUSES)]
        for begin in range(0, len(parts), MAX_AT_ONCE):
            if not await self._is_leased():
                raise LeaseLostError
            some = (self._ask(segment, changes, part, refused) for part in parts[begin : begin + MAX_AT_ONCE])
            for entries in await gather_or_cancel(*some):
                for name, seqs in sequences_by_clause(entries).items():
                    clause = candidates[int(name)][0]
                    matches[clause] = seqs
                    counts.update(dict.fromkeys(seqs, len(searches_of[clause])))
                await asyncio.sleep(0)
            changes = range(changes.start, 1 + last_within(counts, changes[-1], self._limits.max_matches))
        return matches, [candidates[number][0] for number in refused], changes[-1]

    async def _ask(
        self, segment: Segment, changes: range, part: Sequence[tuple[int, Compiled, int]], refused: list[int]
    ) -> list[MatchedEntry]:
        """The sides that these clauses match. Where the engine refuses, it is asked with half of them: together they
        may have more clauses than it takes. One that does not answer is asked nothing more.
        """
        log_name = self._log.name(segment.id)
        bits = reduce(operator.or_, (each for _, _, each in part)) & ~(-1 << len(changes))
        seqs = [changes[at] for at in set_bits(bits)]
        if not seqs:
            return []
        try:
            clauses = (clause.named(str(number)) for number, clause, _ in part)
            return await self._engine.matched(log_name, request_of(clauses, seqs))
        except Exception as error:  # of one of these, perhaps: the others are asked on
            if isinstance(error, ApiError) and not _is_response(error):
                raise
            if len(part) > 1:
                half = len(part) // 2
                first = await self._ask(segment, changes, part[:half], refused)
                return first + await self._ask(segment, changes, part[half:], refused)
            await self._engine.matched(log_name, request_of([NOTHING], seqs))  # or it is the engine's fault
            log.exception("the engine refuses a saved search")
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


def _is_response(error: ApiError) -> bool:
    """Whether the engine answered with a fault of its own, which a clause may have caused."""
    return isinstance(error.__cause__, TransportError) and error.__cause__.status_code == 500
