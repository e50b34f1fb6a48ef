"""Loader processes that hang or die at a chosen request."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from tests.support.api.waiting import wait_until
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk, pass_all

MANY = 400


@contextlib.contextmanager
def loader_half_way(place: Place, wire: Wire) -> Any:
    """A loader process whose third bulk request hangs until the block ends."""
    (place.folder / "many.ndjson").write_bytes(lines(items(MANY, first=1000)))
    with loader_held(place, wire, lambda method, path: is_bulk(path) and wire.bulks >= 3, "many.ndjson") as loader:
        yield loader


@contextlib.contextmanager
def loader_held(place: Place, wire: Wire, when: Callable[[str, str], bool], *arguments: str) -> Any:
    """A loader process in chunks of twenty items whose requests hang from such a one on until the block ends."""
    reached, end = threading.Event(), threading.Event()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if when(method, path):
            reached.set()
            end.wait(60)
            return CUT
        return None

    wire.rule = rule
    command = [sys.executable, "-m", "indexer.cli.main", "load", *arguments, "--platform", "730", "--quiet", "--json"]
    command += ["--chunk-items", "20"]
    environment = {**place.environment, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, cwd=place.folder) as process:
        try:
            assert reached.wait(60)
            yield process, end
        finally:
            end.set()
            process.kill()


def unfinished(place: Place) -> list[dict[str, Any]]:
    """The generations that a load fills, or has left unfinished."""
    state = place.json("status", "--platform", "730")
    return [generation for generation in state["generations"] if generation["state"] in ("loading", "unfinished")]


def killed_load(place: Place, wire: Wire, when: Callable[[str, str], bool], min_records: int = 0) -> dict[str, Any]:
    """Kills a load of many.ndjson there, once so many records are in its checkpoint; the generation that is left."""
    with loader_held(place, wire, when, "many.ndjson") as (process, _):

        def has_records() -> bool:
            left = unfinished(place)
            return not left or (left[0]["checkpoint"] or {"read": -1})["read"] >= min_records

        wait_until(has_records)
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    wire.rule = pass_all
    left = unfinished(place)
    return left[0] if left else {}
