"""The moments that must not go wrong: the loader's death, a signal, and the swap itself."""

import itertools
import os
import signal
from typing import Any

import orjson
import pytest

from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.loaders import loader_half_way
from tests.support.indexer.wire import CUT, LOSE, Fault, Wire, pass_all


def test_a_loader_that_is_killed_leaves_the_old_answers(place: Place, wire: Wire) -> None:
    old = place.load(items(2))["index"]
    with loader_half_way(place, wire) as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    wire.rule = pass_all
    assert place.served() == [1, 2]
    left = [name for name in place.indices() if name != old]
    assert len(left) == 1
    state = place.json("status", "--platform", "730")
    assert {generation["index"]: generation["state"] for generation in state["generations"]} == {
        old: "serving",
        left[0]: "unfinished",
    }
    assert (state["lock"]["pid"], state["lock"]["alive"], state["lock"]["index"]) == (process.pid, False, left[0])
    assert "it has crashed" in place.run("status").stdout
    report = place.load(items(3))
    assert (report["swapped"], report["removed"]) == (True, left), "the next load cleans up"
    assert place.indices() == [old, report["index"]]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_loader_that_is_asked_to_stop_cleans_up(place: Place, wire: Wire, number: signal.Signals) -> None:
    old = place.load(items(2))["index"]
    with loader_half_way(place, wire) as (process, end):
        process.send_signal(number)
        end.set()
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    response: dict[str, Any] = orjson.loads(output)
    assert (response["error"], response["swapped"]) == ("interrupted", False)
    assert place.indices() == [old]
    assert place.served() == [1, 2]


def test_an_interruption_during_the_swap_waits_for_its_end(place: Place, wire: Wire) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    wire.rule = rule
    report = place.load(items(3), code=130)
    assert (report["swapped"], report["error"]) == (True, "interrupted")
    assert place.served() == [1, 2, 3]


def test_a_swap_that_cannot_be_made_is_not_guessed_about(place: Place, wire: Wire) -> None:
    old = place.load(items(2))["index"]

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return CUT if path.startswith("/_aliases") else None

    wire.rule = rule
    report = place.load(items(3), "--retry-timeout", "0.4", code=1)
    assert "`gear-indexer status` tells" in report["error"]
    assert report["swapped"] is None
    assert place.served() == [1, 2]
    states = {
        generation["index"]: generation["state"]
        for generation in place.json("status", "--platform", "730")["generations"]
    }
    assert states == {old: "serving", report["index"]: "unfinished"}


def test_a_swap_that_is_made_while_it_is_sent_again_has_happened(place: Place, wire: Wire) -> None:
    """The connection is lost while the cluster manager still has the request."""
    old = place.load(items(2))["index"]
    waiting: list[bytes] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            if not waiting:
                waiting.append(body)
                return CUT
            wire.forward(method, path, waiting[0], "application/json")
        return None

    wire.rule = rule
    report = place.load(items(3, first=10))
    assert (report["swapped"], report["previous"]) == (True, old)
    assert place.served() == [10, 11, 12]


@pytest.mark.parametrize("fault", [CUT, LOSE])
def test_a_swap_whose_answer_is_lost_happens_once(place: Place, wire: Wire, fault: Fault) -> None:
    old = place.load(items(2))["index"]
    count = itertools.count()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return fault if path.startswith("/_aliases") and next(count) == 0 else None

    wire.rule = rule
    report = place.load(items(3, first=10))
    assert (report["swapped"], report["previous"]) == (True, old)
    assert place.served() == [10, 11, 12]
