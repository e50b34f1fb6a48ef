"""Deaths of nodes: a cluster under searches in; what its service answered while a node was gone, and how long, out.

No search is asked twice, so that no answer is one that was kept. Those around the death are asked once more when the
cluster is whole, of a service that has kept nothing: a list that was short, or of something else, is `wrong`.
"""

import http.client
import json
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from bench import means, nodes
from bench.nodes import Cluster
from bench.peers import services
from bench.peers.connection import ask
from bench.peers.services import Service
from bench.questions import distinct
from bench.runs import load as loading

BODIES: Final = 40_000
CLIENTS: Final = 4
BEFORE_SECONDS: Final = 10.0
AFTER_SECONDS: Final = 5.0
GREEN_SECONDS: Final = 200.0  # the engine waits 60 before it makes the lost copies anew
AROUND_SECONDS: Final = (2.0, 20.0)  # before the death was due and after it was noticed, whose answers are compared
CLIENT_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.2
VICTIMS: Final = ("manager", "other")
Found = tuple[int | None, list[int]]  # the number of hits and the page's ids


@dataclass(frozen=True)
class Answered:
    """One answer: to which body, when it was asked for (monotonic seconds), what it took, its status (0: none)."""

    body: bytes
    asked: float
    took: float
    status: int
    found: Found | None = None


class Load:
    """Clients of a service that ask each body once."""

    def __init__(self, service: Service, bodies: Iterable[bytes]) -> None:
        self._service = service
        self._bodies = iter(bodies)
        self._over = threading.Event()
        self._next = threading.Lock()
        self.answers: list[Answered] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Asks for as long as the context."""
        threads = [threading.Thread(target=self._ask_all) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join()

    def _ask_all(self) -> None:
        connection = connection_to(self._service)
        while not self._over.is_set():
            with self._next:
                body = next(self._bodies)
            began = time.monotonic()
            try:
                status, found = answer(connection, self._service, body)
            except OSError:
                status, found = 0, None
                connection.close()
                connection = connection_to(self._service)
            self.answers.append(Answered(body, began, time.monotonic() - began, status, found))
        connection.close()


def connection_to(service: Service) -> http.client.HTTPConnection:
    """A connection for one client."""
    parts = urlsplit(service.address)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=CLIENT_SECONDS)


def answer(connection: http.client.HTTPConnection, service: Service, body: bytes) -> tuple[int, Found | None]:
    """The status of a search and, where it was answered, what it found."""
    connection.request("POST", "/v1/gear/search", body, dict(service.headers))
    told = connection.getresponse()
    content = json.loads(told.read())
    if told.status != http.client.OK:
        return told.status, None
    return told.status, (content["total"], [one["id"] for one in content["gear"]])


def wrong(answers: Iterable[Answered], service: Service) -> int:
    """How many of these found something else than this service finds now."""
    held = [one for one in answers if one.status == http.client.OK]
    with closing(connection_to(service)) as connection:
        return sum(answer(connection, service, one.body) != (one.status, one.found) for one in held)


def measure(items: int, name: str, folder: Path, victims: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Kills one node of the running cluster after the other, each back and all green before the next."""
    cluster = nodes.SEVERAL
    place = loading.place(items, ",".join(cluster.addresses), folder, filling=False)
    means.serve(place.client, items, name)
    index = means.index_of(items, name)
    more = {"GEAR_SEARCH_TIMEOUT": "2.5"}  # as by default
    for victim in victims:
        number = chosen(cluster, victim)
        survivor = next(cluster.address(one) for one in cluster.numbers if one != number)
        with services.gear_api(place.url, means.prefix_of(items), folder, more=more) as service:
            load = Load(service, distinct("cold", BODIES))
            with load.running():
                time.sleep(BEFORE_SECONDS)
                died = time.monotonic()
                cluster.kill(number)
                noticed = until(survivor, index, lambda state: state.get("number_of_nodes") == cluster.count - 1)
                green = until(survivor, index, lambda state: state.get("status") == "green")
                time.sleep(AFTER_SECONDS)
        cluster.revive(number)
        back = until(survivor, index, lambda state: state.get("number_of_nodes") == cluster.count)
        whole = until(survivor, index, lambda state: state.get("status") == "green" and not state["relocating_shards"])
        begin, end = died - AROUND_SECONDS[0], noticed + AROUND_SECONDS[1]
        around = [one for one in load.answers if begin < one.asked < end]
        with services.gear_api(place.url, means.prefix_of(items), folder) as service:
            compared = {"compared": len(around), "wrong": wrong(around, service)}
        seconds = {"noticed": noticed - died, "green": green - died, "whole_again": whole - back}
        rounded = {key: round(value, 1) for key, value in seconds.items()}
        about = {"victim": victim, "variant": name, "clients": CLIENTS, **rounded, **compared}
        yield {**about, **summary(load.answers, died, green)}


def chosen(cluster: Cluster, victim: str) -> int:
    """The number of the node that manages the cluster, or of the first that does not."""
    manager = ask("GET", f"{cluster.address(1)}/_cat/cluster_manager?format=json")[0]["node"]
    return next(one for one in cluster.numbers if (cluster.node(one) == manager) == (victim == "manager"))


def until(address: str, index: str, reached: Callable[[Mapping[str, Any]], bool]) -> float:
    """When the index and its cluster were first seen so; raises RuntimeError where not within `GREEN_SECONDS`."""
    limit = time.monotonic() + GREEN_SECONDS
    while not reached(state := nodes.health(address, index)):
        if time.monotonic() > limit:
            message = f"the cluster is not as it should be after {GREEN_SECONDS:.0f} s: {state}"
            raise RuntimeError(message)
        time.sleep(LOOK_SECONDS)
    return time.monotonic()


def summary(answers: Sequence[Answered], died: float, green: float) -> dict[str, Any]:
    """Medians of the answers before the death, until green and after; how many were no answers."""
    failed = [one for one in answers if one.status != http.client.OK]
    periods = {
        "before": [one for one in answers if one.asked + one.took < died],
        "without": [one for one in answers if died <= one.asked + one.took < green],
        "after": [one for one in answers if one.asked + one.took >= green],
    }
    medians = {
        name: round(statistics.median(one.took for one in held) * 1000, 2) for name, held in periods.items() if held
    }
    return {
        "answers": len(answers),
        "medians": medians,
        "slowest": round(max(one.took for one in answers), 2),
        "failed": {str(status): count for status, count in Counter(one.status for one in failed).items()},
        "first_failed": round(min((one.asked - died for one in failed), default=0.0), 2),
        "last_failed": round(max((one.asked + one.took - died for one in failed), default=0.0), 2),
    }
