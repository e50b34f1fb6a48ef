"""Orders: databases, workers and clients in; rates, times, callbacks and the masks' lag of real processes out."""

import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench import data
from bench.peers import databases, services
from bench.peers.connection import ask
from bench.peers.services import Service
from bench.report.figures import median, percentile, show_wide, spread
from bench.runs.changing import order_of
from bench.runs.search import OURS, Peer, Plan, Series, measure
from bench.runs.wrk import Run, run
from bench.workloads.bodies import workloads

PARTS: Final = ("rates", "lags", "searches")
WORKLOADS: Final = ("cold", "hot", "text")
MOST_A_SECOND: Final = 600  # bodies prepared for each second: more than any run was seen to send
WARM_UP_SECONDS: Final = 3.0
DRAIN_SECONDS: Final = 300.0
POLL_SECONDS: Final = 0.01


@dataclass(frozen=True, kw_only=True)
class Shop:
    """What all runs share: the engine, the loaded prefix, the items that nobody has ordered yet, a folder."""

    opensearch_url: str
    prefix: str
    items: Iterator[int]
    folder: Path


def opened(items: int, opensearch_url: str, folder: Path) -> Shop:
    """A shop whose index was loaded just now, so that every item is on offer."""
    file = data.listings(items, folder)
    prefix = f"bench-orders-{items}"
    data.load_ours(file, items, opensearch_url, prefix, folder, anew=True)
    ids = (item["id"] for item in data.items(file) if item["price"] is not None)
    return Shop(opensearch_url=opensearch_url, prefix=prefix, items=ids, folder=folder)


@dataclass(frozen=True)
class Round:
    """One run: what the clients saw; the service's processor time an order with its callback (milliseconds); the
    callbacks: how many had come when the clients stopped, how long the rest took, and how long after its order one came
    (milliseconds).
    """

    run: Run
    busy: float
    callbacks: int
    drained: float
    late50: float
    late99: float


@dataclass
class Orders:
    """The rounds on one database with so many workers and clients."""

    database: str
    workers: int
    clients: int
    rounds: list[Round] = field(default_factory=list)

    def median(self, name: str) -> float:
        """The median over the rounds of a number of theirs or of their runs'."""
        return median((one if hasattr(one, name) else one.run for one in self.rounds), name)

    def as_json(self) -> dict[str, Any]:
        """The medians, the spread of the rates, and every round."""
        return {
            "database": self.database,
            "workers": self.workers,
            "clients": self.clients,
            "rate": round(self.median("rate"), 1),
            "spread": spread(one.run.rate for one in self.rounds),
            **{name: self.median(name) for name in ("p50", "p99", "busy", "late50", "late99", "drained")},
            "rounds": [asdict(one) for one in self.rounds],
        }


@contextmanager
def serving(shop: Shop, kind: str, workers: int) -> Iterator[tuple[Service, str]]:
    """This project's service on an empty database of this kind, and the database's address."""
    with databases.database(kind, shop.folder) as url:
        more = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}
        made = services.gear_api(shop.opensearch_url, shop.prefix, shop.folder, workers, url, more)
        with made as service:
            yield service, url


def rates(
    shop: Shop, kinds: Sequence[str], workers: Sequence[int], clients: Sequence[int], rounds: int, seconds: float
) -> Iterator[Orders]:
    """Orders with callbacks: each of them a new item with a key of its own, each callback received by a process."""
    for kind in kinds:
        for count in workers:
            with serving(shop, kind, count) as (service, _), services.receiver(shop.folder) as receiver:
                _ordered(shop, service, receiver, max(clients), WARM_UP_SECONDS)
                for many in clients:
                    found = Orders(kind, count, many)
                    found.rounds.extend(_ordered(shop, service, receiver, many, seconds) for _ in range(rounds))
                    yield found


def _ordered(shop: Shop, service: Service, receiver: Service, clients: int, seconds: float) -> Round:
    bodies = shop.folder / "orders.ndjson"
    items = list(islice(shop.items, int(MOST_A_SECOND * seconds)))
    if len(items) < int(MOST_A_SECOND * seconds):
        message = "all items have been ordered: ask for more with --items"
        raise RuntimeError(message)
    with bodies.open("w", encoding="utf-8") as lines:
        lines.writelines(json.dumps(order_of(str(item), f"{receiver.address}/hooks")) + "\n" for item in items)
    ask("DELETE", receiver.address)
    began = service.busy()
    made = run(
        service.address,
        "/v1/gear",
        bodies,
        first=0,
        clients=clients,
        seconds=seconds,
        headers=service.headers,
        keys=f"bench-{time.time_ns()}",
    )
    stopped = time.monotonic()
    if made.requests > MOST_A_SECOND * seconds - clients:
        message = "the run was faster than its bodies last: raise MOST_A_SECOND in bench/runs/orders.py"
        raise RuntimeError(message)
    callbacks = ask("GET", receiver.address)["callbacks"]
    told = _drained(receiver, made.requests)
    drained = round(time.monotonic() - stopped, 2)
    busy = round((service.busy() - began) * 1000 / told["events"], 2)
    return Round(made, busy, callbacks, drained, told["p50"], told["p99"])


def _drained(receiver: Service, orders: int) -> dict[str, Any]:
    """What was received once each order's callback has come; the last orders' clients may not have seen the 201."""
    until = time.monotonic() + DRAIN_SECONDS
    while time.monotonic() < until:
        told: dict[str, Any] = ask("GET", receiver.address)
        if told["events"] >= orders:
            return told
        time.sleep(0.05)
    message = f"of {orders} orders {told['events']} were told"
    raise RuntimeError(message)


def lags(shop: Shop, kind: str, orders: int) -> list[float]:
    """Seconds from an order's 201 until no search finds the item, for so many orders one after the other on a quiet
    service, each at a moment of its own between two refreshes.
    """
    chance = random.Random(orders)
    found = []
    with serving(shop, kind, 1) as (service, _):
        for item in (next(shop.items) for _ in range(orders)):
            time.sleep(chance.random())
            question = {"platform": 730, "filters": {"ids": [item]}}
            if ask("POST", f"{service.address}/v1/gear/search", question, service.headers)["total"] != 1:
                message = f"item {item} is not on offer before its order"
                raise RuntimeError(message)
            ask("POST", f"{service.address}/v1/gear", order_of(str(item), "http://127.0.0.1:9/"), service.headers)
            began = time.monotonic()
            while ask("POST", f"{service.address}/v1/gear/search", question, service.headers)["total"]:
                time.sleep(POLL_SECONDS)
            found.append(time.monotonic() - began)
    return sorted(found)


def searches(
    shop: Shop, kind: str, counts: Sequence[int], clients: int, plan: tuple[int, float]
) -> Iterator[tuple[str, Series]]:
    """The same searches with so many active orders in the store."""
    rounds, seconds = plan
    known = workloads()
    asked = Plan(
        workloads=tuple(known[name] for name in WORKLOADS),
        clients=(clients,),
        rounds=rounds,
        seconds=seconds,
        opensearch_url=shop.opensearch_url,
    )
    with serving(shop, kind, 1) as (service, url):
        peer = Peer(OURS, service.address, "/v1/gear/search", service.headers)
        active = 0
        for count in counts:
            if count > active:
                databases.bind(url, [next(shop.items) for _ in range(count - active)])
            active = count
            for series in measure(asked, [peer], shop.folder):
                yield f"{count:,}", series


def show_rates(measured: Sequence[Orders]) -> None:
    """Prints the medians."""
    table = Table(
        "database",
        "workers",
        "clients",
        "orders/s",
        "spread",
        "p50 ms",
        "p99 ms",
        "busy ms",
        "callback p50 ms",
        "p99 ms",
        "drained s",
    )
    for one in measured:
        low, high = one.as_json()["spread"]
        numbers = [f"{one.median('p50') / 1000:.1f}", f"{one.median('p99') / 1000:.1f}"]
        numbers += [
            f"{one.median('busy'):.1f}",
            f"{one.median('late50'):.0f}",
            f"{one.median('late99'):.0f}",
            f"{one.median('drained'):.1f}",
        ]
        rate = f"{one.median('rate'):,.0f}"
        table.add_row(one.database, str(one.workers), str(one.clients), rate, f"{low:,.0f} to {high:,.0f}", *numbers)
    show_wide(table)


def show_lags(found: dict[str, list[float]]) -> None:
    """Prints the percentiles in seconds."""
    table = Table("database", "orders", "p50 s", "p90 s", "p99 s", "most s")
    for kind, held in found.items():
        numbers = [f"{percentile(held, share):.2f}" for share in (0.5, 0.9, 0.99)]
        table.add_row(kind, str(len(held)), *numbers, f"{held[-1]:.2f}")
    Console().print(table)


def show_searches(found: Sequence[tuple[str, Series]]) -> None:
    """Prints the medians by the number of active orders."""
    table = Table("workload", "active orders", "requests/s", "spread", "p50 ms", "p99 ms")
    for orders, one in found:
        low, high = one.as_json()["spread"]
        numbers = [f"{one.median('p50') / 1000:.2f}", f"{one.median('p99') / 1000:.2f}"]
        table.add_row(one.workload, orders, f"{one.median('rate'):,.0f}", f"{low:,.0f} to {high:,.0f}", *numbers)
    Console().print(table)
