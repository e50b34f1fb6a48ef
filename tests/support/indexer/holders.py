"""Holders of the lock: a place in; others that hold its lock, living or dead, and loads that can be raced with, out."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from indexer.cli.interruption import Interruption
from indexer.cli.progress import LoadProgress
from indexer.engine.retry import Patience
from indexer.loading.job import LoadJob
from indexer.loading.load import Load
from indexer.loading.report import LoadReport
from indexer.locking.lock import Lock, LockHeldError
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord, LockRecords, MovedError, now_text
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place

ELSEWHERE = Owner(id="e15e", host="elsewhere", pid=7, machine="another", started="1")


def records(place: Place) -> LockRecords:
    """The place's lock as the engine has it."""
    return LockRecords(place.client, place.alias, 10)


def record(expiry: float = 60, owner: Owner = ELSEWHERE) -> LockRecord:
    """A load on another machine that beats now."""
    now = now_text()
    return LockRecord(owner=owner, command="load", index=None, since=now, beat=now, expiry=expiry)


def take_over(place: Place) -> None:
    """What another machine does that takes the owner for dead."""
    while True:
        found = records(place).read()
        assert found is not None
        with suppress(MovedError):
            records(place).replace(found, record())
            return


@contextmanager
def beating(place: Place, seconds: float, expiry: float) -> Iterator[None]:
    """Somebody on another machine who holds the lock and renews it."""
    ended = threading.Event()

    def beat() -> None:
        held = records(place).create(record(expiry))
        begun.set()
        while not ended.wait(seconds):
            held = records(place).replace(held, held.renewed())
        records(place).remove(held)

    begun = threading.Event()
    thread = threading.Thread(target=beat)
    thread.start()
    try:
        assert begun.wait(30)
        yield
    finally:
        ended.set()
        thread.join()


def lock(place: Place, expiry: float, say: Callable[[str], None] = lambda text: None) -> Lock:
    """This process's own, for a short while."""
    return Lock(place.client, place.alias, "load", Patience(10), say, expiry=expiry)


def load_with(place: Place, source: Path, expiry: float, url: str) -> LoadReport:
    """A load whose lock has a short expiry; raises what the load raises."""
    settings = SearchSettings(opensearch_url=url)
    platform = read_platforms(settings.platform_files).by_reference("730")
    assert platform is not None
    job = LoadJob(files=(str(source),), platform=platform, lock_expiry=expiry, give_up_after=60)
    report = LoadReport(platform.id, place.alias)
    client = connect(settings, retries=0)
    try:
        load = Load(job, client, read_definition(), None, report)
        load.run(LoadProgress(None, quiet=True), Interruption())
    finally:
        client.close()
    return report


def taken_from_the_living(place: Place) -> Lock:
    """This process's own, once the one that lives was not heard of for its expiry."""
    while True:
        mine = lock(place, expiry=60)
        with suppress(LockHeldError):
            return mine.__enter__()
