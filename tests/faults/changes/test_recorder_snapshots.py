"""The snapshots and the logs of a recorder: it leaves none behind while its ticks fail, and loses none it needs."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from prometheus_client import CollectorRegistry
from sqlalchemy import update

from api.changes.log import ChangeLog
from api.changes.recorder import INTERVALS, MAX_BACK_OFF_SECONDS, Intervals, Recorder
from api.engine.feed import FeedEngine
from api.settings import Settings
from api.telemetry.metrics import FeedMetrics
from mappings.platforms import read_platforms
from store import feeds
from store.connection.engine import Store
from store.feeds import Feed, Segment
from store.schema import feeds as feed_rows
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.platform_files import platform_folder
from tests.support.indexer.fixtures import Place
from tests.support.indexer.wire import Fault, Wire, pass_all
from tests.support.streams.changes import upsert

REFUSED = Fault("response", 403, b'{"error": {"type": "security_exception", "root_cause": []}, "status": 403}')


class CountingEngine(FeedEngine):
    """Knows the snapshots that are open, and those whose items were counted, which keeps them."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, 30)
        self.open: dict[str, str] = {}  # by snapshot, its index
        self.counted: list[str] = []

    async def open_snapshot(self, index: str) -> tuple[str, int]:
        pit, shards = await super().open_snapshot(index)
        self.open[pit] = index
        return pit, shards

    async def close_pits(self, pits: Sequence[str]) -> None:
        await super().close_pits(pits)
        for pit in pits:
            del self.open[pit]

    async def count(self, pit: str) -> int:
        self.counted.append(self.open[pit])
        return await super().count(pit)


@dataclass
class Recording:
    """A recorder, and what lies between it and the engine."""

    recorder: Recorder
    rival: Recorder  # of another worker
    engine: CountingEngine
    store: Store
    wire: Wire
    place: Place
    settings: Settings

    async def feed(self) -> Feed:
        """The feed as it is committed."""
        async with self.store.reading() as connection:
            feed = await feeds.find(connection, self.settings.index_prefix)
        assert feed is not None
        return feed

    def logs(self) -> int:
        """How many logs the engine has."""
        return len(self.place.client.indices.get(index=f"{self.settings.index_prefix}-changes-*"))


@pytest.fixture
def wire(opensearch_url: str) -> Iterator[Wire]:
    """A proxy before the engine for the recorder alone."""
    with Wire(opensearch_url) as proxy:
        yield proxy


@pytest.fixture
async def recording(
    feed_settings: Settings, wire: Wire, place: Place, request: pytest.FixtureRequest
) -> AsyncIterator[Recording]:
    """A recorder of two platforms in a feed that is read; its parameter is the recorder's intervals."""
    files = platform_folder(place.folder, (570, "dota2", "USD", 2))
    platforms = read_platforms(files)
    other = platforms.by_id(570)
    assert other is not None
    put_index(feed_settings, other, [simple_item(1)], datetime.now(UTC) - timedelta(hours=1))
    engine = CountingEngine(feed_settings.model_copy(update={"opensearch_url": wire.url}))
    store = Store(feed_settings.database_url)
    log = ChangeLog(engine, feed_settings.index_prefix)
    intervals = getattr(request, "param", Intervals())
    recorder, rival = (
        Recorder(engine, store, platforms, log, timedelta(hours=24), FeedMetrics(CollectorRegistry()), intervals)
        for _ in range(2)
    )
    async with store.transaction() as connection:
        await feeds.activate(connection, log.feed, datetime.now(UTC))
    yield Recording(recorder, rival, engine, store, wire, place, feed_settings)
    await engine.close_pits(list(engine.open))
    await engine.close()
    await store.close()


def is_new_log(method: str, path: str, body: bytes) -> Fault | None:
    return REFUSED if method == "PUT" and "-changes-" in path else None


def is_append(method: str, path: str, body: bytes) -> Fault | None:
    return REFUSED if "-changes-" in path and "/_bulk" in path else None


def is_page(method: str, path: str, body: bytes) -> Fault | None:
    return REFUSED if b'"pit"' in body and b'"_seq_no"' in body else None


@pytest.mark.parametrize("recording", [Intervals(logs=10**9)], indirect=True)  # a log for each change
async def test_ticks_that_fail_leave_no_snapshot_and_no_log(recording: Recording) -> None:
    tick, engine, wire = recording.recorder.run_once, recording.engine, recording.wire
    wire.rule = is_new_log
    pauses = [await tick() for _ in range(7)]
    assert pauses == [1.0, 2.0, 4.0, 8.0, MAX_BACK_OFF_SECONDS, MAX_BACK_OFF_SECONDS, MAX_BACK_OFF_SECONDS]
    assert engine.open == {}
    assert (await recording.feed()).segments == []
    wire.rule = pass_all
    assert await tick() == INTERVALS.tick_seconds
    assert len(engine.open) == 2
    assert len((await recording.feed()).segments) == recording.logs() == 1

    for number, fault in enumerate((is_new_log, is_append, is_page), 1):
        before, snapshots = await recording.feed(), dict(engine.open)
        await upsert(recording.place, simple_item(1000 + number))
        wire.rule = fault
        assert [await tick(), await tick()] == [1.0, 2.0]
        assert engine.open == snapshots
        assert await unchanged(recording, before)
        assert recording.logs() == number
        wire.rule = pass_all
        assert await tick() == INTERVALS.tick_seconds
        after = await recording.feed()
        assert after.committed == before.committed + 1
        assert len(after.segments) == recording.logs() == number + 1
        assert len(engine.open) == 2
        assert engine.open != snapshots


async def unchanged(recording: Recording, before: Feed) -> bool:
    return await recording.feed() == before


async def test_a_commit_that_another_recorder_forbids_leaves_no_snapshot_and_no_log(recording: Recording) -> None:
    tick, engine = recording.recorder.run_once, recording.engine
    await tick()
    snapshots = dict(engine.open)
    await upsert(recording.place, simple_item(1001))

    def take_over(method: str, path: str, body: bytes) -> Fault | None:
        if "-changes-" in path and "/_refresh" in path:
            with closing(sqlite3.connect(recording.place.folder / "orders.db")) as database, database:
                database.execute("UPDATE feeds SET owner = 'another', term = term + 1, leased_until = 0")
        return None

    recording.wire.rule = take_over
    await tick()
    assert engine.open == snapshots
    assert (await recording.feed()).committed == 0
    recording.wire.rule = pass_all
    await tick()
    assert len(engine.open) == 2
    assert (await recording.feed()).committed == 1
    assert len((await recording.feed()).segments) == recording.logs() == 2


async def test_a_recorder_that_is_late_drops_no_log_of_the_one_that_took_over(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop_all_but = ChangeLog.drop_all_but

    async def late(log: ChangeLog, segments: Sequence[Segment], indices: Sequence[str]) -> None:
        monkeypatch.setattr(ChangeLog, "drop_all_but", drop_all_but)
        await recording.recorder.lease.release()  # as if it were over
        await upsert(recording.place, simple_item(1001))
        await recording.rival.run_once()
        await drop_all_but(log, segments, indices)

    monkeypatch.setattr(ChangeLog, "drop_all_but", late)
    await recording.recorder.run_once()
    after = await recording.feed()
    assert after.committed == 1
    assert len(after.segments) == recording.logs() == 2


@pytest.fixture
def several_shards(recording: Recording) -> str:
    """The index of a platform whose items lie in three shards."""
    return put_index(recording.settings, CS2, map(simple_item, range(1, 31)), shards=3)


async def recorded_changes(recording: Recording, *items: dict[str, Any]) -> int:
    """How many changes a tick records after these items were written."""
    before = await recording.feed()
    await upsert(recording.place, *items)
    await recording.recorder.run_once()
    return (await recording.feed()).committed - before.committed


async def test_changes_of_any_shard_are_not_repeated_with_a_lost_point_in_time(
    recording: Recording, several_shards: str
) -> None:
    await recording.recorder.run_once()
    assert await recorded_changes(recording, *map(simple_item, range(31, 61))) == 30
    recording.place.client.delete_pit(body={"pit_id": [*recording.engine.open]})  # as an engine that is started again
    assert await recorded_changes(recording, simple_item(1, 2), simple_item(61)) == 2
    assert await recorded_changes(recording) == 0


async def test_a_feed_that_the_version_before_recorded_goes_on(recording: Recording, several_shards: str) -> None:
    await recording.recorder.run_once()
    assert await recorded_changes(recording, *map(simple_item, range(31, 61))) == 30
    state = orjson.loads((await recording.feed()).state or "")
    for snapshot in state.values():
        del snapshot["positions"]
    async with recording.store.transaction() as connection:
        await connection.execute(update(feed_rows).values(state=orjson.dumps(state).decode()))
    recording.recorder = recording.rival
    async with recording.store.transaction() as connection:
        await connection.execute(update(feed_rows).values(owner=None, leased_until=None))
    assert await recorded_changes(recording, simple_item(1, 2), simple_item(61)) == 2
    assert await recorded_changes(recording) == 0


async def test_nothing_is_recorded_from_where_a_shard_was_away(recording: Recording, several_shards: str) -> None:
    await recording.recorder.run_once()
    before = await recording.feed()

    def without_a_shard(method: str, path: str, body: bytes) -> Fault | None:
        if "/_stats" not in path:
            return None
        status, _, content = recording.wire.forward(method, path, body, None)
        response = orjson.loads(content)
        del response["indices"][several_shards]["shards"]["1"]
        return Fault("response", status, orjson.dumps(response))

    recording.wire.rule = without_a_shard
    assert await recorded_changes(recording, *map(simple_item, range(31, 61))) == 0
    assert await unchanged(recording, before)
    recording.wire.rule = pass_all
    assert await recorded_changes(recording) == 30


@pytest.mark.parametrize("recording", [Intervals(touch_seconds=0.0)], indirect=True)
async def test_the_snapshot_of_a_quiet_platform_stays_open_while_another_one_changes(recording: Recording) -> None:
    tick, engine = recording.recorder.run_once, recording.engine
    await tick()
    (quiet,) = (index for index in engine.open.values() if "-570-" in index)
    for number in (1001, 1002):
        await upsert(recording.place, simple_item(number))
        engine.counted.clear()
        await tick()
        assert (await recording.feed()).committed == number - 1000
    assert quiet in engine.counted
