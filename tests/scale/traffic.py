"""Searches, changes and orders that go on while something is lost, and what became of each."""

import random
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import cycle, pairwise
from typing import Any

import httpx
import orjson

from bench.clients.background import order_body
from bench.figures import percentile
from bench.peers.checkout import HERE
from bench.peers.data import PLATFORM
from bench.peers.services import Service
from bench.workloads.bodies import bodies_of, workloads
from tests.scale.place import Scale
from tests.support.traffic import SEARCH, Response, client_of, sending

CHANGED_ITEMS = 50_000  # the listings whose prices change, again and again
TICK_SECONDS = 0.1
ORDER_SECONDS = 0.1


@dataclass
class Responses:
    """The answers of one kind, in the order in which they came."""

    all: Sequence[Response[Any]]

    def since(self, start: float) -> "Responses":
        """Those that ended later."""
        return Responses([response for response in self.all if response.ended >= start])

    def figures(self) -> dict[str, float]:
        """Rate, percentiles in milliseconds, and failures."""
        taken = sorted((response.ended - response.requested) * 1000 for response in self.all if response.succeeded)
        lasted = self.all[-1].ended - self.all[0].ended
        return {
            "a second": round(len(taken) / lasted, 1),
            "p50 ms": round(percentile(taken, 0.5), 1),
            "p99 ms": round(percentile(taken, 0.99), 1),
            "failed": len(self.all) - len(taken),
        }

    def longest_gap(self) -> float:
        """The longest time without a success, in seconds."""
        times = sorted(response.ended for response in self.all if response.succeeded)
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)


@contextmanager
def searching(service: Service, rate: int | None = None) -> Iterator[Responses]:
    """Searches of the workload `mix`, so many a second, or as many as all clients send without a pause.

    What they find is not read: that would take time of what is measured.
    """
    client = partial(client_of, service.address, service.headers)
    bodies = cycle(bodies_of(workloads()["mix"], 1))
    with sending(client, SEARCH, paced(bodies, rate) if rate else bodies, lambda _: None) as responses:
        yield Responses(responses)


def paced(bodies: Iterator[dict[str, Any]], rate: int) -> Iterator[dict[str, Any]]:
    """The bodies, each at its time; after a pause of the clients none is made up for."""
    due = time.monotonic()
    for body in bodies:
        time.sleep(max(0.0, due - time.monotonic()))
        yield body
        due = max(due + 1 / rate, time.monotonic())


@contextmanager
def ordering(service: Service, items: list[int]) -> Iterator[Responses]:
    """Orders of these items, one after the other; what is read of each is its id."""

    def bodies() -> Iterator[dict[str, Any]]:
        for item in items:
            time.sleep(ORDER_SECONDS)
            yield order_body(str(item), "https://shop.example.com/hooks")

    def order_id(response: httpx.Response) -> str:
        return str(response.json()["order"]["id"])

    client = partial(client_of, service.address, service.headers)
    with sending(client, "/v1/gear", bodies(), order_id, clients=1) as responses:
        yield Responses(responses)


@dataclass
class Changes:
    """A follower, what was sent to it, and what it has said of each batch."""

    sent: int = 0
    reports: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    def figures(self, start: float) -> dict[str, float]:
        """The changes that were acknowledged from then on, and how old the oldest of a batch was then, in seconds."""
        later = [(at, report) for at, report in self.reports if at >= start]
        if len(later) < 2:
            return {"a second": 0.0}
        ages = sorted(report["age"] for _, report in later)
        read = later[-1][1]["read"] - later[0][1]["read"]
        return {
            "a second": round(read / (later[-1][0] - later[0][0]), 1),
            "p50 s": round(percentile(ages, 0.5), 2),
            "p99 s": round(percentile(ages, 0.99), 2),
            "max s": round(ages[-1], 2),
        }


@contextmanager
def changing(scale: Scale, rate: int) -> Iterator[Changes]:
    """So many prices a second by `gear-indexer follow -`, as the user who may write items."""
    items = scale.listings[:CHANGED_ITEMS]
    command = [HERE.program("gear-indexer"), "follow", "-", "--platform", str(PLATFORM), "--json", "--quiet"]
    environment = HERE.environment(scale.settings("writer"))
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    changes, ended = Changes(), threading.Event()
    with subprocess.Popen(command, env=environment, cwd=scale.data.folder, **pipes) as process:

        def write() -> None:
            assert process.stdin is not None
            started, chance = time.monotonic(), random.Random(0)
            while not ended.wait(max(0.0, started + changes.sent / rate - time.monotonic())):
                now = datetime.now(UTC).isoformat()
                some = chance.sample(items, max(1, round(rate * TICK_SECONDS)))
                rows = [{**item, "price": chance.randint(1, 100_000) / 100, "changedAt": now} for item in some]
                process.stdin.write(b"".join(orjson.dumps(row) + b"\n" for row in rows))
                process.stdin.flush()
                changes.sent += len(rows)
            process.stdin.close()

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                changes.reports.append((time.monotonic(), orjson.loads(line)))

        threads = [threading.Thread(target=write), threading.Thread(target=read)]
        for thread in threads:
            thread.start()
        try:
            yield changes
        finally:
            ended.set()
            for thread in threads:
                thread.join()
    if process.returncode:
        message = f"the follower ended with {process.returncode}: {changes.reports[-1:]}"
        raise RuntimeError(message)
