"""Orders: how many a second, how soon callbacks come, and how soon items leave the results."""

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Final

from bench.clients.background import order_body
from bench.clients.connection import request_json
from bench.clients.wrk import Run, run_orders
from bench.figures import median, spread
from bench.peers import services
from bench.peers.data import PLATFORM, Data, load_file
from bench.peers.search_peers import SEARCH_PATH
from bench.peers.services import Service

PARTS: Final = ("rates", "lags")
MAX_ORDERS_A_SECOND: Final = 600  # bodies prepared for each second: more than any run was seen to send
WARM_UP_SECONDS: Final = 3.0
DRAIN_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.01


@dataclass(frozen=True, kw_only=True)
class Shop:
    """The loaded index, and the items that nobody has ordered yet."""

    data: Data
    prefix: str
    unsold: Iterator[int]

    def take(self, count: int) -> list[int]:
        """The next items; raises RuntimeError where fewer are left."""
        items = list(islice(self.unsold, count))
        if len(items) < count:
            message = "all items have been ordered: ask for more with --items"
            raise RuntimeError(message)
        return items


def open_shop(data: Data) -> Shop:
    """Loads the index anew, so that every item is on offer."""
    prefix = f"bench-orders-{data.count}"
    data.sample()
    load_file(data.file, data.opensearch_url, prefix, data.folder)
    unsold = (item["id"] for item in data.items() if item["price"] is not None)
    return Shop(data=data, prefix=prefix, unsold=unsold)


@dataclass(frozen=True)
class Round:
    """One run: what the clients saw, the service's processor time an order (ms), callbacks that had come when the
    clients stopped, seconds until the rest had come, and percentiles of the time from an order to its callback (ms).
    """

    run: Run
    cpu_ms: float
    callbacks: int
    drain_seconds: float
    callback_p50: float
    callback_p99: float


@dataclass
class Orders:
    """The rounds on one database with so many workers and clients."""

    database: str
    workers: int
    clients: int
    rounds: list[Round] = field(default_factory=list)

    def median(self, name: str) -> float:
        """The median over the rounds of a number of theirs or of their runs'."""
        return median((round_ if hasattr(round_, name) else round_.run for round_ in self.rounds), name)

    @property
    def spread(self) -> list[float]:
        """The lowest and the highest rate."""
        return spread(round_.run.rate for round_ in self.rounds)

    def as_json(self) -> dict[str, Any]:
        """The medians, the spread of the rates, and every round."""
        names = ("p50", "p99", "cpu_ms", "callback_p50", "callback_p99", "drain_seconds")
        return {
            "database": self.database,
            "workers": self.workers,
            "clients": self.clients,
            "rate": round(self.median("rate"), 1),
            "spread": self.spread,
            **{name: self.median(name) for name in names},
            "rounds": [asdict(round_) for round_ in self.rounds],
        }


def _serving(shop: Shop, database: str, workers: int = 1) -> AbstractContextManager[Service]:
    settings = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}
    data = shop.data
    return services.gear_api_on(
        database, data.opensearch_url, shop.prefix, data.folder, workers=workers, settings=settings
    )


def rates(
    shop: Shop, kinds: Sequence[str], workers: Sequence[int], clients: Sequence[int], rounds: int, seconds: float
) -> Iterator[Orders]:
    """Orders with callbacks: each of another item with a key of its own, each callback received by a process."""
    for kind in kinds:
        for count in workers:
            with (
                _serving(shop, kind, count) as service,
                services.callback_receiver(shop.data.folder) as receiver,
            ):
                _order(shop, service, receiver, max(clients), WARM_UP_SECONDS)
                for number in clients:
                    measured = [_order(shop, service, receiver, number, seconds) for _ in range(rounds)]
                    yield Orders(kind, count, number, measured)


def _order(shop: Shop, service: Service, receiver: Service, clients: int, seconds: float) -> Round:
    bodies = shop.data.folder / "orders.ndjson"
    items = shop.take(int(MAX_ORDERS_A_SECOND * seconds))
    orders = (order_body(str(item), f"{receiver.address}/hooks") for item in items)
    request_json("DELETE", receiver.address)
    cpu_before = service.cpu_seconds()
    counted = run_orders(
        service.address, "/v1/gear", orders, bodies, clients=clients, seconds=seconds, headers=service.headers
    )
    stopped = time.monotonic()
    if counted.requests > len(items) - clients:
        message = "the run was faster than its bodies last: raise MAX_ORDERS_A_SECOND in bench/runs/orders.py"
        raise RuntimeError(message)
    callbacks = request_json("GET", receiver.address)["callbacks"]
    received = _all_received(receiver, counted.requests)
    drain_seconds = round(time.monotonic() - stopped, 2)
    cpu_ms = round((service.cpu_seconds() - cpu_before) * 1000 / received["events"], 2)
    return Round(counted, cpu_ms, callbacks, drain_seconds, received["p50"], received["p99"])


def _all_received(receiver: Service, orders: int) -> dict[str, Any]:
    """The receiver's counts once each order's callback has come; the last clients may not have seen their 201."""
    services.wait_until(
        lambda: request_json("GET", receiver.address)["events"] >= orders,
        DRAIN_SECONDS,
        f"callbacks of {orders} orders have not come within {DRAIN_SECONDS:.0f} s",
        pause=0.05,
    )
    counts: dict[str, Any] = request_json("GET", receiver.address)
    return counts


def lags(shop: Shop, kind: str, orders: int) -> list[float]:
    """Seconds from an order's 201 until no search finds its item, one order after the other on a quiet service, each at
    a random moment between two refreshes.
    """
    chance = random.Random(orders)
    seconds = []
    with _serving(shop, kind) as service:
        for item in shop.take(orders):
            time.sleep(chance.random())
            if not _is_on_offer(service, item):
                message = f"item {item} is not on offer before its order"
                raise RuntimeError(message)
            order = order_body(str(item), "http://127.0.0.1:9/")
            request_json("POST", f"{service.address}/v1/gear", order, service.headers)
            started = time.monotonic()
            while _is_on_offer(service, item):
                time.sleep(POLL_SECONDS)
            seconds.append(time.monotonic() - started)
    return sorted(seconds)


def _is_on_offer(service: Service, item: int) -> bool:
    body = {"platform": PLATFORM, "filters": {"ids": [item]}}
    return bool(request_json("POST", service.address + SEARCH_PATH, body, service.headers)["total"])
