"""The change feed at size: how fast one reader reads what is behind, and what readers cost who wait."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import product
from typing import Any, Final

import orjson

from bench.clients import waiting_readers
from bench.clients.connection import Connection, request_json
from bench.peers.data import PLATFORM
from bench.peers.services import Service
from bench.runs.changes import FEED_PATH, STOP_SECONDS, Measured, Place, put_all

PAGES: Final = (1_000, 10_000)  # changes a page, as far as the service allows
WEAPONS: Final = ("AWP", "M4A1-S", "USP-S", "Glock-18", "Desert Eagle")
SETTLE_SECONDS: Final = 5.0
WAITING_SECONDS: Final = 30.0  # each reader asks again once
WAYS: Final[Mapping[str, Mapping[str, str]]] = {"requests": {}, "streams": {"Accept": "text/event-stream"}}


def burst(place: Place, kind: str, rounds: int) -> Iterator[Measured]:
    """Changes a second that one reader reads of all listings changed at once, once they are recorded."""
    place.load()
    items = list(place.data.items())
    with place.serving(kind) as service, closing(Connection(service.address, service.headers)) as connection:
        most = request_json("GET", f"{service.address}/v1/platforms", headers=service.headers)["limits"]["changesLimit"]
        measured = {limit: Measured("burst", f"{kind}: {limit:,} a page") for limit in PAGES if limit <= most}
        for number in range(rounds):
            since = _ask(connection, {})["next"]
            dearer = ({**item, "price": round((item["price"] or 0) + number + 1, 2)} for item in items)
            put_all(service, [orjson.dumps(item) + b"\n" for item in dearer])
            _recorded(connection, since, len(items))
            for limit, row in measured.items():
                row.rounds.append({"rate": round(_read_all(connection, since, limit, len(items)), 1)})
    yield from measured.values()


def _ask(connection: Connection, more: dict[str, Any]) -> Any:
    content, _ = connection.request("POST", FEED_PATH, orjson.dumps({"platform": PLATFORM, **more}))
    return orjson.loads(content)


def _recorded(connection: Connection, since: str, count: int) -> None:
    """Waits until all changes can be read."""
    read, deadline = 0, time.monotonic() + 10 * STOP_SECONDS
    while read < count:
        if time.monotonic() > deadline:
            message = f"{read:,} of {count:,} changes are recorded"
            raise RuntimeError(message)
        response = _ask(connection, {"since": since, "limit": PAGES[0], "wait": 2})
        since, read = response["next"], read + len(response["changes"])


def _read_all(connection: Connection, since: str, limit: int, count: int) -> float:
    """Changes a second, the bytes of each page read and its bookmark found."""
    read, started = 0, time.perf_counter()
    while read < count:
        response = _ask(connection, {"since": since, "limit": limit})
        since, read = response["next"], read + len(response["changes"])
    return read / (time.perf_counter() - started)


def waiting(place: Place, kind: str, readers: Sequence[int]) -> Iterator[Measured]:
    """Processor seconds a second of the service while so many readers wait, by requests of half a minute or by streams.

    Each asks one of five questions. First nothing changes, then ten items a second do that concern none of them.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))  # of the processes that are started from here
    place.load()
    items = [item for item in place.data.items() if item["details"]["weapon"] not in WEAPONS][:100]
    with place.serving(kind) as service:
        for way, count in product(WAYS, readers):
            with _readers(service, way, count):
                row = Measured("waiting", f"{kind}: {count:,} {way}")
                time.sleep(SETTLE_SECONDS)
                row.rounds.append({"idle": _used(service, []), "beside": _used(service, items)})
                yield row


@contextmanager
def _readers(service: Service, way: str, count: int) -> Iterator[None]:
    """A process with so many connections, on each of which a reader waits, as long as the block lasts."""
    wait = {} if way == "streams" else {"wait": 30}
    bodies = [{"platform": PLATFORM, "filters": {"weapon": [weapon]}, **wait} for weapon in WEAPONS]
    target = {"address": service.address, "path": FEED_PATH, "headers": {**service.headers, **WAYS[way]}}
    command = [sys.executable, waiting_readers.__file__, json.dumps(target), json.dumps(bodies), str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None or process.stdout.readline() != b"waiting\n":
                message = f"{count:,} readers do not wait"
                raise RuntimeError(message)
            yield
        finally:
            process.kill()


def _used(service: Service, items: Sequence[dict[str, Any]]) -> float:
    """Processor seconds that the service uses a second, beside ten changes a second of these items."""
    before, started, written = service.cpu_seconds(), time.monotonic(), 0
    while time.monotonic() - started < WAITING_SECONDS:
        if items:
            changed = [{**item, "price": written + 1} for item in items[written % 90 : written % 90 + 10]]
            request_json("PUT", f"{service.address}/v1/catalogue/{PLATFORM}/items", changed, service.headers)
            written += 1
        time.sleep(1.0)
    return round((service.cpu_seconds() - before) / (time.monotonic() - started), 4)
