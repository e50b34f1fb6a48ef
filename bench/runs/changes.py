"""Changes: items written over HTTP and by streams, how soon a reader has them, and orders of the cheapest."""

import random
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from opensearchpy import OpenSearch

from bench.clients.background import order_body
from bench.clients.connection import Connection, request_json
from bench.clients.wrk import run_orders
from bench.figures import percentile, spread
from bench.peers import services
from bench.peers.checkout import HERE
from bench.peers.data import PLATFORM, Data, database_file, engine_client, load_file
from bench.peers.services import Service

PARTS: Final = ("writes", "latency", "burst", "waiting", "cheapest")
PREFIX: Final = "bench-changes"
INDEX: Final = f"{PREFIX}-{PLATFORM}"
ITEMS_PATH: Final = f"/v1/catalogue/{PLATFORM}/items"
FEED_PATH: Final = "/v1/gear/changes"
LOAD, HTTP, STDIN, KAFKA = (
    "gear-indexer load",
    "PUT, 4 clients",
    "gear-indexer follow -",
    "gear-indexer follow kafka://",
)
REQUEST_ITEMS: Final = 5_000
WRITERS: Final = 4
WORKERS: Final = 2
STOP_SECONDS: Final = 60.0
BESIDE_ITEMS: Final = 50  # a request of what is written beside a reader
CROWD: Final = {"GEAR_MAX_CONNECTIONS": "20000"}  # of all the readers who wait
FOLLOW: Final = ("--platform", str(PLATFORM), "--json", "--quiet")
NAMED, ONE, TEN = "POST /v1/gear", "cheapest, count 1", "cheapest, count 10"
MAX_ORDERS_A_SECOND: Final = 400  # bodies prepared for each second
MAX_PRICE: Final = 1_000_000


@dataclass(frozen=True)
class Place:
    """The listings, and a Kafka broker (host:port) where there is one."""

    data: Data
    kafka: str | None = None

    @property
    def settings(self) -> dict[str, str]:
        """What the indexer's commands are run with."""
        return {
            "GEAR_OPENSEARCH_URL": self.data.opensearch_url,
            "GEAR_INDEX_PREFIX": PREFIX,
            "GEAR_DATABASE_URL": f"sqlite+aiosqlite:///{database_file(self.data.folder)}",
        }

    def load(self) -> None:
        """Loads the listings anew, in the place of all that was there."""
        self.data.sample()
        self.remove()
        load_file(self.data.file, self.data.opensearch_url, PREFIX, self.data.folder)

    @property
    def client(self) -> OpenSearch:
        """A client of the engine."""
        return engine_client(self.data.opensearch_url)

    def remove(self) -> None:
        """Deletes all indices, also those of changes."""
        self.client.indices.delete(index=f"{PREFIX}-*", params={"expand_wildcards": "all"})

    def serving(self, database: str) -> AbstractContextManager[Service]:
        """This project's service on an empty database of this kind."""
        data = self.data
        return services.gear_api_on(database, data.opensearch_url, PREFIX, data.folder, workers=WORKERS, settings=CROWD)


@dataclass
class Measured:
    """The rounds of one row, each with its `rate` a second or the percentiles of what was waited for, in seconds."""

    part: str
    name: str
    rounds: list[dict[str, float]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The medians, the spread of the rates, and every round."""
        values = {name: sorted(each[name] for each in self.rounds) for name in self.rounds[0]}
        medians = {name: ordered[len(ordered) // 2] for name, ordered in values.items()}
        spreads = {"spread": spread(values["rate"])} if "rate" in values else {}
        return {"part": self.part, "name": self.name, **medians, **spreads, "rounds": self.rounds}


def writes(place: Place, rounds: int) -> Iterator[Measured]:
    """All listings into an empty index, by each way in turn; the first round warms up and is not counted."""
    data = place.data
    data.sample()
    lines = [orjson.dumps(item) + b"\n" for item in data.items()]
    client = place.client
    with place.serving(services.DATABASES[0]) as service:
        ways: dict[str, Callable[[], float]] = {
            LOAD: lambda: _load(place),
            HTTP: lambda: put_all(service, lines),
            STDIN: lambda: _follow(place, "-", lines),
        }
        if place.kafka is not None:
            kafka = place.kafka
            ways[KAFKA] = lambda: _follow(place, _topic(kafka, data), lines)
        measured = {name: Measured("writes", name) for name in ways}
        for number in range(rounds + 1):
            for name, write in ways.items():
                _empty(place)
                seconds = write()
                if number:
                    measured[name].rounds.append({"rate": round(data.count / seconds, 1)})
                client.indices.refresh(index=INDEX)
                if (count := client.count(index=INDEX)["count"]) != data.count:
                    message = f"{name}: {count:,} of {data.count:,} items are in the index"
                    raise RuntimeError(message)
    yield from measured.values()


def _empty(place: Place) -> None:
    place.remove()
    empty = place.data.folder / "no-listings.ndjson"
    empty.write_bytes(b"")
    options = ("--platform", str(PLATFORM), "--allow-empty", "--quiet")
    HERE.run("gear-indexer", "load", str(empty), *options, settings=place.settings)


def _load(place: Place) -> float:
    command = ("load", str(place.data.file), "--platform", str(PLATFORM), "--min-share", "0", "--quiet")
    started = time.monotonic()
    HERE.run("gear-indexer", *command, settings=place.settings)
    return time.monotonic() - started


def put_all(service: Service, lines: Sequence[bytes]) -> float:
    parts = [b"".join(lines[begin : begin + REQUEST_ITEMS]) for begin in range(0, len(lines), REQUEST_ITEMS)]
    headers = {**service.headers, "Content-Type": "application/x-ndjson"}

    def put(first: int) -> None:
        with closing(Connection(service.address, headers)) as connection:
            for part in parts[first::WRITERS]:
                connection.request("PUT", ITEMS_PATH, part)

    started = time.monotonic()
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(put, range(WRITERS)))
    return time.monotonic() - started


def _topic(kafka: str, data: Data) -> str:
    """The address of a new topic with a message for each listing, of now: later than the index that is to take it."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    name = f"{PREFIX}-{time.time_ns()}"
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.create_topics([NewTopic(name, 4, 1)])[name].result()
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 50})
    for item in data.items():
        producer.produce(name, key=str(item["id"]).encode(), value=orjson.dumps(item))
        producer.poll(0)
    if left := producer.flush(60):
        message = f"{left:,} messages were not taken by {kafka}"
        raise RuntimeError(message)
    return f"kafka://{kafka}/{name}"


def _follow(place: Place, source: str, lines: Sequence[bytes]) -> float:
    """Seconds from the follower's start until it has acknowledged all."""
    command = [HERE.program("gear-indexer"), "follow", source, *FOLLOW]
    group = () if source == "-" else ("--group", source.rpartition("/")[2])
    started = time.monotonic()
    process = subprocess.Popen(
        [*command, *group],
        env=HERE.environment(place.settings),
        cwd=place.data.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    pipe, reports = process.stdin, process.stdout
    if pipe is None or reports is None:
        message = "the follower has no pipes"
        raise RuntimeError(message)
    with process, ThreadPoolExecutor(1) as pool:
        if source == "-":
            pool.submit(lambda: (pipe.writelines(lines), pipe.flush()))
        for report in reports:
            if orjson.loads(report)["read"] == len(lines):
                seconds = time.monotonic() - started
                process.terminate()
                return seconds
    message = f"{command} ended with {process.returncode} before it had read all"
    raise RuntimeError(message)


def latency(place: Place, kind: str, rounds: int, changes: int, beside: Sequence[int]) -> Iterator[Measured]:
    """Seconds from the acknowledgement of a change until a waiting reader has it, with so many items a second written
    beside it.
    """
    place.load()
    items = list(place.data.items())
    rows = {rate: Measured("latency", f"{kind}: {rate} items a second beside") for rate in beside}
    with place.serving(kind) as service, closing(_Reader(service)) as reader:
        for _ in range(rounds):
            for rate, measured in rows.items():
                with _writing(service, items[changes:], rate):
                    waited = sorted(_change(service, reader, item) for item in items[:changes])
                shares = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
                measured.rounds.append({name: round(percentile(waited, share), 3) for name, share in shares.items()})
    yield from rows.values()


class _Reader:
    """Reads all changes in a thread, and keeps when it had the price of an item."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._arrivals: dict[tuple[int, float], float] = {}
        self._came = threading.Condition()
        self._closed = False
        self._next = self._ask({})["next"]
        self._pool = ThreadPoolExecutor(1)
        self._reading = self._pool.submit(self._read)

    def _ask(self, more: dict[str, Any]) -> Any:
        body = {"platform": PLATFORM, **more}
        return request_json("POST", self._service.address + FEED_PATH, body, self._service.headers)

    def _read(self) -> None:
        while not self._closed:
            response = self._ask({"since": self._next, "limit": 1000, "wait": 2})
            now = time.monotonic()
            self._next = response["next"]
            with self._came:
                for change in response["changes"]:
                    if "gear" in change:
                        self._arrivals[change["id"], change["gear"]["price"]] = now
                self._came.notify_all()

    def when(self, item: int, price: float) -> float:
        """When it had this price; raises RuntimeError where it does not come."""
        with self._came:
            if not self._came.wait_for(lambda: (item, price) in self._arrivals or self._reading.done(), STOP_SECONDS):
                message = f"the change of item {item} does not come"
                raise RuntimeError(message)
            if self._reading.done():
                self._reading.result()
            return self._arrivals[item, price]

    def close(self) -> None:
        """Ends the thread."""
        self._closed = True
        self._pool.shutdown()


def _change(service: Service, reader: _Reader, item: dict[str, Any]) -> float:
    """Changes an item's price at a random moment between two ticks of the recorder; the seconds until it is read."""
    time.sleep(random.random())
    price = random.randint(1, 100 * MAX_PRICE) / 100
    request_json("PUT", service.address + ITEMS_PATH, [{**item, "price": price}], service.headers)
    acknowledged = time.monotonic()
    return max(0.0, reader.when(item["id"], price) - acknowledged)


@contextmanager
def _writing(service: Service, items: Sequence[dict[str, Any]], rate: int) -> Iterator[None]:
    """Writes so many of these items a second; raises where a write fails."""
    stopped = threading.Event()

    def write() -> None:
        started, written = time.monotonic(), 0
        while not stopped.wait(max(0.0, started + written / rate - time.monotonic())):
            changed = [{**item, "price": random.randint(1, MAX_PRICE)} for item in random.sample(items, BESIDE_ITEMS)]
            request_json("PUT", service.address + ITEMS_PATH, changed, service.headers)
            written += BESIDE_ITEMS

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write) if rate else None
        try:
            yield
        finally:
            stopped.set()
    if writer is not None:
        writer.result()


def cheapest(place: Place, kind: str, rounds: int, clients: int, seconds: float) -> Iterator[Measured]:
    """Orders of the cheapest that there are, whom all clients want, beside orders of items that each client names."""
    place.load()
    priced = [item for item in place.data.items() if item["price"] is not None]
    highest = iter(sorted(priced, key=lambda item: item["price"], reverse=True))
    measured = {name: Measured("cheapest", f"{kind}: {name}") for name in (NAMED, ONE, TEN)}
    with place.serving(kind) as service:
        for number in range(rounds + 1):
            for name, orders in measured.items():
                bodies = [_order(name, client, highest) for client in range(int(MAX_ORDERS_A_SECOND * seconds))]
                counted = _send(place, service, name, bodies, clients, seconds)
                if number:
                    orders.rounds.append(counted)
    yield from measured.values()


def _order(name: str, client: int, named: Iterator[dict[str, Any]]) -> dict[str, Any]:
    if name == NAMED:
        body = order_body(str(next(named)["id"]), "")
        del body["callbackUrl"]
        return body
    buyer = {"account": f"client-{client}", "email": "buyer@example.com", "platform": "cs2"}
    return {**buyer, "search": {}, "maxPrice": MAX_PRICE, "count": 10 if name == TEN else 1}


def _send(
    place: Place, service: Service, name: str, bodies: list[dict[str, Any]], clients: int, seconds: float
) -> dict[str, float]:
    path = "/v1/gear" if name == NAMED else "/v1/gear/cheapest"
    file = place.data.folder / "cheapest.ndjson"
    counted = run_orders(service.address, path, bodies, file, clients=clients, seconds=seconds, headers=service.headers)
    items = 10 if name == TEN else 1
    return {"rate": round(items * counted.rate, 1), "p50": counted.p50 / 1e6, "p99": counted.p99 / 1e6}
