"""Searches, changes and orders that go on while something is lost, and what became of each."""

import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice, pairwise
from typing import Any

import httpx
import orjson

from bench.clients.background import order_body
from bench.data import PLATFORM
from bench.figures import percentile
from bench.peers.checkout import HERE
from bench.peers.services import Service
from bench.workloads.bodies import bodies_of, workloads
from tests.scale.place import Scale

CLIENTS = 4
CHANGED_ITEMS = 50_000  # the listings whose prices change, again and again
TICK_SECONDS = 0.1


@dataclass(frozen=True)
class Answer:
    """One request: when it ended, how long it took, and whether it was answered as it should be."""

    at: float
    seconds: float
    works: bool


@dataclass
class Answers:
    """The requests of one kind, from the clients of the context."""

    all: list[Answer] = field(default_factory=list)

    def since(self, start: float) -> "Answers":
        """Those that ended later."""
        return Answers([answer for answer in self.all if answer.at >= start])

    def figures(self) -> dict[str, float]:
        """Rate, percentiles in milliseconds, and failures."""
        taken = sorted(answer.seconds * 1000 for answer in self.all if answer.works)
        lasted = self.all[-1].at - self.all[0].at
        return {
            "a second": round(len(taken) / lasted, 1),
            "p50 ms": round(percentile(taken, 0.5), 1),
            "p99 ms": round(percentile(taken, 0.99), 1),
            "failed": len(self.all) - len(taken),
        }

    def longest_gap(self) -> float:
        """The longest time without an answer that was as it should be, in seconds."""
        times = sorted(answer.at for answer in self.all if answer.works)
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)


@contextmanager
def sent(clients: int, send: Callable[[int], Callable[[], bool]]) -> Iterator[Answers]:
    """So many clients, each of which sends one request after the other; `send` makes what a client sends each time."""
    answers, ended = Answers(), threading.Event()

    def work(number: int) -> None:
        request = send(number)
        while not ended.is_set():
            started = time.monotonic()
            try:
                works = request()
            except httpx.TransportError:
                works = False
            now = time.monotonic()
            answers.all.append(Answer(now, now - started, works))
            if not works:
                time.sleep(0.05)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@contextmanager
def searching(service: Service) -> Iterator[Answers]:
    """Searches of the workload `mix`, by clients that wait for each answer."""
    bodies = bodies_of(workloads()["mix"], 1)

    def send(number: int) -> Callable[[], bool]:
        client = httpx.Client(base_url=service.address, headers=dict(service.headers), timeout=30)
        mine = cycle(bodies[number::CLIENTS])
        return lambda: client.post("/v1/gear/search", json=next(mine)).status_code == 200

    with sent(CLIENTS, send) as answers:
        yield answers


@contextmanager
def ordering(service: Service, items: list[int], placed: list[str]) -> Iterator[Answers]:
    """Orders of these items, one after the other; the ids of those that were acknowledged."""
    unsold = iter(items)
    client = httpx.Client(base_url=service.address, headers=dict(service.headers), timeout=30)

    def order() -> bool:
        time.sleep(0.1)
        body = order_body(str(next(unsold)), "https://shop.example.com/hooks")
        answer = client.post("/v1/gear", json=body)
        if answer.status_code == 201:
            placed.append(answer.json()["order"]["id"])
        return answer.status_code == 201

    with client, sent(1, lambda _: order) as answers:
        yield answers


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
    items = list(islice(scale.data.items(), CHANGED_ITEMS))
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
