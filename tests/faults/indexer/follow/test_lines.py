"""Changes from stdin while the engine is away."""

import threading

from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.follower import FollowerProcess, row
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk, pass_all


def test_a_stop_while_the_engine_is_away_says_which_lines_are_lost(place: Place, wire: Wire) -> None:
    """What was taken from the pipe cannot be read again."""
    place.load(items(1))
    follower, tried = FollowerProcess(place, "-"), threading.Event()
    follower.write(row(1), row(2))
    follower.wait_read(2)

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path):
            tried.set()
            return CUT
        return None

    wire.rule = rule
    follower.write(row(3), row(4))
    assert tried.wait(60)
    report = follower.stop()
    assert follower.process.returncode == 1
    assert (report["line"], report["error"]) == (
        2,
        "stopped while the engine was away: send again what comes after line 2",
    )


def test_an_engine_that_is_away_is_waited_for(place: Place, wire: Wire) -> None:
    place.load(items(1))
    tries: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path):
            tries.append(path)
            if len(tries) == 3:
                wire.rule = pass_all
            return CUT
        return None

    wire.rule = rule
    follower = FollowerProcess(place, "-")
    follower.write(row(1))
    assert follower.wait_read(1)["written"] == 1
    assert len(tries) == 3
    follower.end()
