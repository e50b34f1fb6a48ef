"""Others that hold the lock, living or dead, and loads that can be raced with."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from indexer.cli.progress import LoadProgress
from indexer.engine.hidden_index import now_text
from indexer.engine.retry import RetryPolicy
from indexer.loading.job import LoadJob
from indexer.loading.load import Load
from indexer.loading.report import LoadReport
from indexer.locking.lock import Lock, LockHeldError
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord, LockRecords, RecordChangedError
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place, items, lines

MANY = 400  # items of a source that takes many requests
ELSEWHERE = Owner(id="e15e", host="elsewhere", pid=7, machine="another", started="1")


def source_of(place: Place, count: int = MANY) -> Path:
    """A file of so many items."""
    path = place.folder / "source.ndjson"
    path.write_bytes(lines(items(count)))
    return path


def records(place: Place) -> LockRecords:
    """The place's lock as the engine has it."""
    return LockRecords(place.client, place.alias)


def record(expiry: float = 60, owner: Owner = ELSEWHERE) -> LockRecord:
    """A load on another machine that beats now."""
    now = now_text()
    return LockRecord(owner=owner, command="load", index=None, since=now, heartbeat=now, expiry=expiry)


def take_over(place: Place) -> None:
    """What another machine does that takes the owner for dead."""
    while True:
        stored = records(place).read()
        assert stored is not None
        with suppress(RecordChangedError):
            records(place).replace(stored, record())
            return


@contextmanager
def beating(place: Place, seconds: float, expiry: float) -> Iterator[None]:
    """Somebody on another machine who holds the lock and renews it."""
    ended = threading.Event()

    def beat() -> None:
        current = records(place).create(record(expiry))
        is_started.set()
        while not ended.wait(seconds):
            current = records(place).replace(current, replace(current, heartbeat=now_text()))
        records(place).remove(current)

    is_started = threading.Event()
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        assert is_started.wait(30)
        yield
    finally:
        ended.set()
        thread.join()


def lock(place: Place, expiry: float) -> Lock:
    """This process's own, for a short while."""
    return Lock(place.client, place.alias, "load", RetryPolicy(10), lambda _: None, expiry=expiry)


def load_with(place: Place, source: Path, url: str, **options: Any) -> LoadReport:
    """A load with such options of its job; raises what the load raises."""
    settings = SearchSettings(opensearch_url=url)
    platform = read_platforms(settings.platform_files).by_reference("730")
    assert platform is not None
    job = LoadJob(files=(str(source),), platform=platform, retry_timeout=60, **options)
    report = LoadReport(platform.id, place.alias)
    with closing(connect(settings, retries=0)) as client:
        Load(job, client, read_definition(), None, report, LoadProgress(None, quiet=True)).run(nullcontext)
    return report


def taken_from_the_living(place: Place) -> Lock:
    """This process's own, once the one that lives was not heard of for its expiry."""
    while True:
        mine = lock(place, expiry=60)
        with suppress(LockHeldError):
            return mine.__enter__()
