"""One at a time: a second command says who is at work, and a dead one's lock is taken over."""

import threading
from dataclasses import replace

import pytest

from indexer.loading.report import LoadReport
from indexer.locking.lock import Lock, LockHeldError
from indexer.locking.owner import this_process
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.holders import beating, lock, record, records


@pytest.fixture
def place(place: Place) -> Place:
    """Many requests for few items."""
    return replace(place, chunk_items=20)


def test_a_lock_on_another_machine_is_watched_and_a_beat_is_enough(place: Place) -> None:
    with beating(place, seconds=0.2, expiry=60):
        error = place.load(items(1), code=1)["error"]
    assert "(process 7 on elsewhere)" in error
    assert place.load(items(1))["swapped"] is True


@pytest.mark.parametrize("clock", ["2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"])
def test_a_lock_without_a_beat_is_taken_over_whatever_its_clock_says(place: Place, clock: str) -> None:
    records(place).create(replace(record(expiry=0.6), since=clock, heartbeat=clock))
    result = place.run("load", "-", "--platform", "730", stdin=lines(items(1)))
    assert result.exit_code == 0, result.output
    assert f"held by gear-indexer load (process 7 on elsewhere), since {clock}" in result.stderr
    assert "which has crashed" in result.stderr
    assert records(place).read() is None


def test_a_lock_of_a_process_that_is_dead_here_is_taken_over_at_once(place: Place) -> None:
    before = this_process()
    records(place).create(
        record(owner=before),
    )
    with lock(place, expiry=60) as own_lock:
        assert own_lock.previous_owner is not None
        assert own_lock.previous_owner.owner == before, "this process, which does not hold it any more"


def test_of_many_that_want_a_dead_ones_lock_one_gets_it(place: Place) -> None:
    records(place).create(record(expiry=0.3))
    holding: list[Lock] = []
    failed: list[LockHeldError] = []
    wait = threading.Barrier(6, timeout=30)

    def work() -> None:
        wait.wait()
        try:
            with lock(place, expiry=60) as own_lock:
                holding.append(own_lock)
                while len(holding) + len(failed) < 6:
                    own_lock.check()
        except LockHeldError as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (len(holding), len(failed)) == (1, 5)


def test_reports_stay_true_when_the_lock_is_refused(place: Place) -> None:
    """Nothing was begun: there is no index to look for."""
    with lock(place, expiry=60):
        report = place.load(items(1), code=1)
    assert report == {**LoadReport(730, place.alias).as_json(), "seconds": report["seconds"], "error": report["error"]}
