"""One at a time: a second command says who is at work, and a dead one's lock is taken over."""

import threading
from dataclasses import replace

import pytest

from indexer.engine.hidden_index import now_text
from indexer.loading.report import LoadReport
from indexer.locking.lock import Lock, LockHeldError
from indexer.locking.owner import this_process
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.holders import (
    MANY,
    beating,
    lock,
    record,
    records,
    source_of,
)
from tests.support.indexer.loaders import loader_half_way
from tests.support.indexer.wire import Wire


@pytest.fixture
def place(place: Place) -> Place:
    """Many requests for few items."""
    return replace(place, chunk_items=20)


def test_a_second_command_says_who_is_at_work_since_when(place: Place, wire: Wire) -> None:
    place.load(items(2))
    old = place.load(items(2))["index"]
    with loader_half_way(place, wire) as (process, end):
        wire.rule = lambda method, path, body: None
        for verb, *options in (["load", "source.ndjson"], ["prune", "--keep", "1"], ["rollback"]):
            source_of(place, 3)
            error = place.json(verb, *options, "--platform", "730", code=1)["error"]
            assert f"is being changed by gear-indexer load (process {process.pid} on " in error
            assert f"since {now_text()[:11]}" in error
        state = place.json("status", "--platform", "730")
        assert (state["lock"]["command"], state["lock"]["pid"], state["lock"]["alive"]) == ("load", process.pid, True)
        assert [one["state"] for one in state["generations"]] == ["loading", "serving", "kept"]
        shown = place.run("status").stdout
        assert f"locked by gear-indexer load, process {process.pid} on " in shown
        assert "it runs" in shown
        assert place.json("upsert", "-", "--platform", "730", stdin=lines(items(1)))["written"] == 1
        end.set()
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert place.served() == [1, *range(1000, 1000 + MANY)]
    assert old in place.indices()
    assert records(place).read() is None


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
    with lock(place, expiry=60) as held:
        assert held.previous_owner is not None
        assert held.previous_owner.owner == before, "this process, which does not hold it any more"


def test_of_many_that_want_a_dead_ones_lock_one_gets_it(place: Place) -> None:
    records(place).create(record(expiry=0.3))
    holding: list[Lock] = []
    failed: list[LockHeldError] = []
    wait = threading.Barrier(6, timeout=30)

    def work() -> None:
        wait.wait()
        try:
            with lock(place, expiry=60) as held:
                holding.append(held)
                while len(holding) + len(failed) < 6:
                    held.check()
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
