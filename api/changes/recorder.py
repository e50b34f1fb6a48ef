"""The recorder: one of all workers writes what differs between successive snapshots of the indices to the log."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from api.background.failing_rows import backoff_seconds
from api.changes.differences import (
    Differences,
    Snapshot,
    diff_after_lost_snapshot,
    diff_indices,
    diff_same_index,
    joined,
)
from api.changes.entries import Difference
from api.changes.lease import Lease
from api.changes.log import ChangeLog, new_segment
from api.engine.errors import NotLoadedError, PitGoneError
from api.engine.feed import FeedEngine, Observed
from api.errors import ApiError
from api.log import log
from api.telemetry.metrics import FeedMetrics
from mappings.platforms import Platforms
from store import feeds
from store.connection.engine import Store
from store.feeds import Feed, Segment
from store.leases import LeaseLostError

LEASE_SECONDS: Final = 6.0
RENEW_SECONDS: Final = 1.5
MAX_BACK_OFF_SECONDS: Final = 15.0  # after failures, one after the other
IDLE_SECONDS: Final = 2.0  # while nobody reads the feed, or another worker records it
CLOCK_SKEW: Final = 600 * 10**6  # microseconds: of who records deletes, and between the record and the delete


class RecordedSnapshot(msgspec.Struct, frozen=True):
    """The last recorded snapshot of a platform: opened at `at` (microseconds since 1970), with all operations up to
    `positions`, one for each shard.
    """

    index: str
    position: int  # the least: all that the version before knows
    pit: str
    at: int
    positions: tuple[int, ...] = ()  # none where the version before has recorded

    @property
    def known_positions(self) -> tuple[int, ...]:
        """One for each shard, or one for all of them."""
        return self.positions or (self.position,)


RecorderState = dict[str, RecordedSnapshot]
"""By the platform's id, as JSON has it."""
_state: Final = msgspec.json.Decoder(RecorderState)


@dataclass(frozen=True)
class Intervals:
    """How often it ticks, and how often is done what not every tick does."""

    tick_seconds: float = 0.5
    touch_seconds: float = 600.0  # so that the engine keeps the snapshots of what does not change
    expire_seconds: float = 60.0
    logs: int = 8  # in a retention time


INTERVALS: Final = Intervals()


class Recorder:
    """Ticks while it has the lease. Each function of `on_commit` is called after changes were committed."""

    def __init__(
        self,
        engine: FeedEngine,
        store: Store,
        platforms: Platforms,
        change_log: ChangeLog,
        retention: timedelta,
        metrics: FeedMetrics,
        intervals: Intervals,
    ) -> None:
        self._engine = engine
        self._store = store
        self._platforms = list(platforms)
        self._log = change_log
        self._name = change_log.feed
        self._retention = retention
        self._metrics = metrics
        self._intervals = intervals
        self.on_commit: list[Callable[[], None]] = []
        self.lease = Lease(store, feeds.LEASES, self._name, LEASE_SECONDS, RENEW_SECONDS)
        self._touched_at = self._expired_at = float("-inf")
        self._recorded_at = float("-inf")  # up to then all changes are recorded
        self._feed: Feed | None = None  # as it is while this worker has the lease
        self._segment: Segment | None = None  # the log that it writes, which nobody else ever writes
        self._failures = 0  # one after the other
        self._unneeded: set[str] = set()  # points in time that no committed state has
        self._uncommitted: Segment | None = None  # a log that nothing is committed of

    async def run_once(self) -> float:
        """One tick, if this worker has the lease; returns the seconds until the next. Raises StoreUnavailable."""
        feed, segment, self._feed, self._segment = self._feed, self._segment, None, None  # after a failure: read anew
        try:
            feed = await self._leased(feed)
            if feed is None:
                self._recorded_at = float("-inf")
                self._metrics.set_lag(0.0)
                return IDLE_SECONDS
            started = time.monotonic()
            self._feed, self._segment = await self._tick(feed, segment)
            self._recorded_at = started
            self._failures = 0
            await self._expire(self._feed)
        except LeaseLostError:
            log.info("another worker records the change feed")
        except (ApiError, PitGoneError) as error:
            self._failures += 1
            log.warning("changes cannot be recorded now", cause=str(error))
        finally:
            await self._discard()
        if self._recorded_at > 0:
            self._metrics.set_lag(time.monotonic() - self._recorded_at)
        return backoff_seconds(self._intervals.tick_seconds, self._failures + 1, MAX_BACK_OFF_SECONDS)

    async def _leased(self, feed: Feed | None) -> Feed | None:
        """The feed if this worker may write it now."""
        if feed is not None and self.lease.is_fresh:
            return feed
        async with self._store.reading() as connection:
            stored = await feeds.find(connection, self._name)
            if stored is None or await self.lease.is_elsewhere(connection):
                return None
        if not await self.lease.take():
            return None
        if feed is not None:
            return feed
        async with self._store.reading() as connection:
            return await feeds.find(connection, self._name)

    async def _tick(self, feed: Feed, segment: Segment | None) -> tuple[Feed, Segment | None]:
        """Records what has changed; returns the feed after it and the log that it writes."""
        observed = await self._engine.observe(self._platforms)
        if feed.state is None:
            return await self._begin(feed, observed)
        state = _state.decode(feed.state)
        await self._touch(state)
        moved = {
            key: serving
            for key, serving in ((str(platform), serving) for platform, serving in observed.items())
            if key not in state or (state[key].index, state[key].positions) != (serving.index, serving.checkpoints)
        }
        if not moved:
            return feed, segment
        try:
            return await self._record(feed, segment, state, moved)
        except NotLoadedError:
            await self._reset(feed)
            return await self._begin(replace(feed, state=None, segments=()), observed)

    async def _begin(self, feed: Feed, observed: dict[int, Observed]) -> tuple[Feed, Segment]:
        """The first snapshots: what comes after them is recorded."""
        state = {str(platform): await self._snapshot(serving) for platform, serving in observed.items()}
        segment = await self._open(feed)
        return await self._commit(feed, segment, feed.committed, state), segment

    async def _record(
        self, feed: Feed, segment: Segment | None, state: RecorderState, moved: dict[str, Observed]
    ) -> tuple[Feed, Segment | None]:
        following, last, kinds = dict(state), feed.committed, Counter[str]()
        if segment is not None and segment.opened_at < datetime.now(UTC) - self._retention / self._intervals.logs:
            segment = None
        for key, serving in moved.items():
            following[key] = await self._snapshot(serving)
            async with aclosing(await self._differences(int(key), state.get(key), following[key])) as parts:
                async for differences in parts:
                    await self.lease.renew()
                    if differences and segment is None:
                        segment = await self._open(feed)
                    if segment is not None:
                        last = await self._append(segment, last, differences)
                    kinds.update(difference.kind for difference in differences)
        if segment is not None and last > feed.committed:
            await self._engine.refresh(self._log.name(segment.id))
        feed = await self._commit(feed, segment, last, following)
        for kind, number in kinds.items():
            self._metrics.count_changes(kind, number)
        return feed, segment

    async def _snapshot(self, observed: Observed) -> RecordedSnapshot:
        at = time.time_ns() // 1000
        try:
            pit, shards = await self._open_snapshot(observed.index)
        except NotLoadedError as error:
            raise ApiError("search_unavailable", f"{observed.index} was replaced meanwhile") from error
        if shards != len(observed.checkpoints):
            raise ApiError("search_unavailable", f"{observed.index} did not have all of its {shards} shards")
        return RecordedSnapshot(observed.index, min(observed.checkpoints), pit, at, observed.checkpoints)

    async def _open_snapshot(self, index: str) -> tuple[str, int]:
        """One that is closed after this tick unless it is committed; the engine keeps only a few hundred."""
        pit, shards = await self._engine.open_snapshot(index)
        self._unneeded.add(pit)
        return pit, shards

    async def _differences(
        self, platform: int, before: RecordedSnapshot | None, after: RecordedSnapshot
    ) -> Differences:
        """What leads from one snapshot to the next. Raises PitGoneError where the engine lost a snapshot meanwhile,
        NotLoadedError where it lost the index before.
        """
        later = Snapshot(self._engine, platform, after.pit)
        if before is None:
            return diff_indices(None, later)
        earlier, positions = Snapshot(self._engine, platform, before.pit), before.known_positions
        deleted = self._engine.deleted_since(platform, before.at - CLOCK_SKEW)
        try:
            await earlier.count()
        except PitGoneError:
            log.warning(
                "a snapshot of the change feed is lost: all that was written since is recorded", index=before.index
            )
            if before.index == after.index:
                return diff_after_lost_snapshot(later, positions, deleted)
            pit, _ = await self._open_snapshot(before.index)
            earlier = Snapshot(self._engine, platform, pit)
            return joined(diff_after_lost_snapshot(earlier, positions, deleted), diff_indices(earlier, later))
        if before.index == after.index:
            return diff_same_index(earlier, later, positions, deleted)
        return diff_indices(earlier, later)

    async def _append(self, segment: Segment, last: int, differences: Sequence[Difference]) -> int:
        """Writes the changes after the number `last`; returns that of the last one."""
        at = time.time_ns() // 1000
        lines = [line for seq, each in enumerate(differences, last + 1) for line in each.lines(seq, at)]
        if lines:
            await self._engine.append(self._log.name(segment.id), lines)
        return last + len(differences)

    async def _open(self, feed: Feed) -> Segment:
        """Begins a log of this recorder's own, which is the feed's with its first commit."""
        self._uncommitted = segment = new_segment(feed, datetime.now(UTC))
        await self._engine.create_log(self._log.name(segment.id))
        return segment

    async def _commit(self, feed: Feed, segment: Segment | None, last: int, state: RecorderState) -> Feed:
        encoded = msgspec.json.encode(state).decode()
        uncommitted, self._uncommitted = self._uncommitted, None  # it stays even where the commit's response is lost
        segments = list(feed.segments)
        async with self._store.transaction() as connection:
            if uncommitted is not None:
                await feeds.open_segment(connection, self._name, feed.term, uncommitted)
                segments = [
                    *(replace(each, closed_at=each.closed_at or uncommitted.opened_at) for each in segments),
                    uncommitted,
                ]
            await feeds.commit(
                connection, self._name, feed.term, None if segment is None else segment.id, last, encoded
            )
        segments = [replace(each, last=last) if segment and each.id == segment.id else each for each in segments]
        self._unneeded = (self._unneeded | _pits(feed.state)) - _pits(encoded)
        if last > feed.committed:
            for notify in self.on_commit:
                notify()
        return replace(feed, committed=last, state=encoded, segments=segments)

    async def _reset(self, feed: Feed) -> None:
        log.error("the snapshots of the change feed are lost: bookmarks expire, and readers begin anew")
        async with self._store.transaction() as connection:
            await feeds.reset(connection, self._name, feed.term)
        self._unneeded |= _pits(feed.state)

    async def _touch(self, state: RecorderState) -> None:
        """Makes the engine keep the snapshots."""
        if time.monotonic() - self._touched_at > self._intervals.touch_seconds:
            self._touched_at = time.monotonic()
            for snapshot in state.values():
                with suppress(PitGoneError):  # found when it is compared
                    await self._engine.count(snapshot.pit)

    async def _expire(self, feed: Feed) -> None:
        """Gives up old logs, and the feed where nobody reads it."""
        if time.monotonic() - self._expired_at < self._intervals.expire_seconds:
            return
        self._expired_at = time.monotonic()
        before = datetime.now(UTC) - self._retention
        # Before the transaction: the logs of a worker that supersedes this one are not among them.
        indices = await self._log.indices()
        async with self._store.transaction() as connection:
            has_ended = await feeds.end(connection, self._name, feed.term, before)
            if not has_ended:
                await feeds.expire(connection, self._name, feed.term, before)
            stored = await feeds.find(connection, self._name)
        await self._log.drop_all_but([] if stored is None else stored.segments, indices)
        self._feed = stored and replace(feed, segments=stored.segments)
        if stored is None:
            self._unneeded |= _pits(feed.state)

    async def _discard(self) -> None:
        """Closes the snapshots and drops the log that a tick opened and did not commit, and the snapshots before it."""
        pits, self._unneeded = self._unneeded, set()
        uncommitted, self._uncommitted = self._uncommitted, None
        if pits:
            with suppress(ApiError):
                await self._engine.close_pits(sorted(pits))
        if uncommitted is not None:
            with suppress(ApiError):  # else it is dropped with old logs
                await self._engine.drop([self._log.index(uncommitted.id)])


def _pits(state: str | None) -> set[str]:
    return set() if state is None else {snapshot.pit for snapshot in _state.decode(state).values()}
