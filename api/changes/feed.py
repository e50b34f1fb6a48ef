"""Builds the change feed of one worker: its recorder, and the tail that its readers read."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

from api.background.tasks import BackgroundTasks
from api.background.workers import PeriodicWorker
from api.changes.log import ChangeLog
from api.changes.recorder import Intervals, Recorder
from api.changes.tail import Tail
from api.engine.feed import FeedEngine
from api.settings import Settings
from api.telemetry.engine_observer import observed
from api.telemetry.metrics import Metrics
from mappings.platforms import Platforms
from store.connection.engine import Store

CONNECTIONS: Final = 12
CACHED_BYTES: Final = 8 * 1024**2  # of shared documents: what changes together is much alike
ENGINE_SECONDS: Final = 30.0  # a page of ten thousand items takes longer than one of a search


@dataclass(frozen=True)
class ChangeFeed:
    engine: FeedEngine
    log: ChangeLog
    tail: Tail
    recorder: Recorder
    worker: PeriodicWorker


def change_feed(
    settings: Settings,
    platforms: Platforms,
    store: Store,
    tasks: BackgroundTasks,
    metrics: Metrics,
    resources: AsyncExitStack,
    intervals: Intervals,
) -> ChangeFeed:
    """The feed of a service with these settings; `resources` closes its connections."""
    observer = partial(observed, "feed", metrics.engine)
    engine = FeedEngine(settings, ENGINE_SECONDS, connections=CONNECTIONS, observer=observer, cached_bytes=CACHED_BYTES)
    resources.push_async_callback(engine.close)
    change_log = ChangeLog(engine, settings.index_prefix)
    # each knows the other: readers wake the recorder, which wakes who waits
    recorder = Recorder(engine, store, platforms, change_log, settings.changes_retention, metrics.feed, intervals)
    worker = PeriodicWorker("change feed", recorder.run_once)
    tail = Tail(store, change_log, tasks, worker.wake, metrics.feed.set_waiting_readers)
    recorder.on_commit.append(tail.wake)
    return ChangeFeed(engine, change_log, tail, recorder, worker)
