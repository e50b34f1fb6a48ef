"""Overload: what the service still answers in time when more is asked of it than it can do."""

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from bench.clients.connection import request_json
from bench.clients.open_loop import Phase
from bench.figures import percentile
from bench.peers.search_peers import SEARCH_PATH
from bench.peers.services import Service
from bench.workloads.bodies import bodies_of, workloads

GOOD_SECONDS = 1.0
PEAK_CLIENTS = 32
ROUNDS = 4  # each rate beside a peak of its own: a machine that others share changes its speed by half within a minute
CROWD = 800
ORDERS = 400
RATES = (1.1, 2.0, 5.0)  # times the peak
STEADY = 0.6
SPIKE = 3.0
SPIKE_SECONDS = 5.0
WARM_UP_SECONDS = 5.0
DISTINCT = "cold"
Requests = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Outcome:
    """One run, without its first second; times in milliseconds, those of `good` from when a request was due."""

    name: str
    offered: float  # a second
    good: float  # responses a second with status 200 within a second
    p50: float
    p99: float
    refused: float  # a second, with 503
    refused_p99: float
    lost: int  # without a response within three seconds
    other: int  # with any other status
    health_p99: float
    orders: int
    orders_refused: int
    order_p99: float
    peak: float = 0.0  # good responses a second of the closed loop just before
    recovery: float = 0.0  # seconds from the end of a spike until all is as before


def outcome(
    name: str, sent: Mapping[str, Requests], seconds: float, peak: float = 0.0, recovery: float = 0.0
) -> Outcome:
    """Sums up what a generator sent."""
    rows = [row for row in _rows(sent["search"]) if 1.0 <= row[0] < seconds]
    ok = [took for _, took, status in rows if status == 200]
    refused = [took for _, took, status in rows if status == 503]
    orders = _rows(sent["order"])
    measured = seconds - 1.0
    return Outcome(
        name=name,
        offered=round(len(rows) / measured, 1),
        good=round(sum(took <= GOOD_SECONDS for took in ok) / measured, 1),
        p50=_milliseconds(ok, 0.5),
        p99=_milliseconds(ok, 0.99),
        refused=round(len(refused) / measured, 1),
        refused_p99=_milliseconds(refused, 0.99),
        lost=sum(status == 0 for _, _, status in rows),
        other=sum(status not in (0, 200, 503) for _, _, status in rows),
        health_p99=_milliseconds([took for _, took, _ in _rows(sent["health"])], 0.99),
        orders=sum(status in (201, 409) for _, _, status in orders),
        orders_refused=sum(status not in (201, 409) for _, _, status in orders),
        order_p99=_milliseconds([took for _, took, _ in orders], 0.99),
        peak=peak,
        recovery=round(recovery, 1),
    )


def recovery_after(sent: Requests, spike_ends: float, rate: float) -> float:
    """Seconds from the end of a spike to the first of two seconds in which 95 % of so many were good."""
    good: dict[int, int] = {}
    for due, took, status in _rows(sent):
        if due >= spike_ends and status == 200 and took <= GOOD_SECONDS:
            good[int(due - spike_ends)] = good.get(int(due - spike_ends), 0) + 1
    second = 0
    while second <= max(good, default=0):
        if min(good.get(second, 0), good.get(second + 1, 0)) >= 0.95 * rate:
            return float(second)
        second += 1
    return float(second)


def measure(service: Service, folder: Path, seconds: float) -> Iterator[Outcome]:
    """Rates above the peak, a crowd, and a spike on a steady load, each after a closed loop that shows the peak."""
    requests = _Requests(service, folder)
    requests.run([Phase(WARM_UP_SECONDS, clients=PEAK_CLIENTS)])

    def peak() -> Outcome:
        return outcome(f"{PEAK_CLIENTS} clients", requests.run([Phase(seconds, clients=PEAK_CLIENTS)]), seconds)

    for _ in range(ROUNDS):
        for factor in RATES:
            yield (baseline := peak())
            sent = requests.run([Phase(seconds, rate=factor * baseline.good)])
            yield outcome(f"{factor:g} × peak", sent, seconds, baseline.good)
    yield (baseline := peak())
    sent = requests.run([Phase(seconds, clients=CROWD)], orders=True)
    yield outcome(f"{CROWD} clients and orders", sent, seconds, baseline.good)
    steady = STEADY * baseline.good
    phases = [
        Phase(seconds, rate=steady),
        Phase(SPIKE_SECONDS, rate=SPIKE * baseline.good),
        Phase(seconds, rate=steady),
    ]
    sent = requests.run(phases)
    spike_ends = seconds + SPIKE_SECONDS
    recovery = recovery_after(sent["search"], spike_ends, steady)
    yield outcome(
        f"{STEADY:.0%} with {SPIKE:g} × for {SPIKE_SECONDS:g} s", sent, spike_ends + seconds, baseline.good, recovery
    )


class _Requests:
    """The raw requests of one run, and the generator that sends them."""

    def __init__(self, service: Service, folder: Path) -> None:
        self._service = service
        self._searches = folder / "overload-searches.bin"
        self._orders = folder / "overload-orders.bin"
        self._none = folder / "overload-none.bin"
        self._runs = 0
        _write(self._orders, [self._request("POST", "/v1/gear", body) for body in self._order_bodies()])
        _write(self._none, [])

    def run(self, phases: Sequence[Phase], *, orders: bool = False) -> dict[str, Any]:
        """What came of each request; no run has the searches of another, which the service would have kept."""
        self._runs += 1
        bodies = bodies_of(workloads()[DISTINCT], seed=self._runs)
        _write(self._searches, [self._request("POST", SEARCH_PATH, orjson.dumps(body)) for body in bodies])
        plan = {
            "address": self._service.address,
            "searches": str(self._searches),
            "orders": str(self._orders if orders else self._none),
            "health": self._request("GET", "/health/live", b"").decode(),
            "phases": [asdict(phase) for phase in phases],
        }
        command = [sys.executable, "-m", "bench.clients.open_loop"]
        done = subprocess.run(command, input=json.dumps(plan).encode(), stdout=subprocess.PIPE, check=True)
        sent: dict[str, Any] = orjson.loads(done.stdout)
        return sent

    def _order_bodies(self) -> Iterator[bytes]:
        url = f"{self._service.address}{SEARCH_PATH}"
        for page in range(1, ORDERS // 100 + 1):
            body = {"limit": 100, "page": page, "sort": "price_desc"}
            for item in request_json("POST", url, body, self._service.headers)["gear"]:
                order = {"account": uuid.uuid4().hex, "email": "a@example.com", "item": str(item["id"])}
                yield orjson.dumps({**order, "platform": "cs2"})

    def _request(self, method: str, path: str, body: bytes) -> bytes:
        headers = {**self._service.headers, "Host": urlsplit(self._service.address).netloc, "Content-Length": len(body)}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + body


def _write(file: Path, requests: Sequence[bytes]) -> None:
    file.write_bytes(b"".join(request + b"\0" for request in requests))


def _rows(sent: Requests) -> list[tuple[float, float, float]]:
    return list(zip(sent["due"], sent["seconds"], sent["status"], strict=True))


def _milliseconds(seconds: Sequence[float], share: float) -> float:
    return round(percentile(sorted(seconds), share) * 1000, 1) if seconds else 0.0
