"""Searches: each workload with each number of clients, round after round, peer after peer."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.clients.background import OrderCount, background_traffic
from bench.clients.connection import request_json
from bench.clients.wrk import Run
from bench.figures import median, spread
from bench.peers.data import SEED
from bench.peers.search_peers import Peer, check_facet_counts
from bench.workloads.bodies import Workload

WARM_UP_SECONDS = 5.0  # for each peer, once


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The workloads, the numbers of clients, how often and how long each is run."""

    workloads: tuple[Workload, ...]
    clients: tuple[int, ...]
    rounds: int
    seconds: float
    opensearch_url: str


@dataclass
class Series:
    """The runs of one peer in one workload with so many clients."""

    workload: str
    clients: int
    peer: str
    runs: list[Run] = field(default_factory=list)

    def median(self, name: str) -> float:
        """The median over the rounds of one of a run's numbers."""
        return median(self.runs, name)

    @property
    def spread(self) -> list[float]:
        """The lowest and the highest rate."""
        return spread(run.rate for run in self.runs)

    def as_json(self) -> dict[str, Any]:
        """The medians, the spread of the rates, and every round."""
        item_rate = self.median("item_rate")
        order_share = round(sum(run.orders for run in self.runs) / sum(run.requests for run in self.runs), 4)
        return {
            "workload": self.workload,
            "clients": self.clients,
            "peer": self.peer,
            "rate": round(self.median("rate"), 1),
            "spread": self.spread,
            **({"items": round(item_rate, 1)} if item_rate else {}),
            **({"orders": order_share} if order_share else {}),
            "p50": self.median("p50"),
            "p99": self.median("p99"),
            "rounds": [asdict(run) for run in self.runs],
        }


def measure(plan: Plan, peers: Sequence[Peer], folder: Path) -> Iterator[Series]:
    """Runs the peers in turn, so that a noisy minute hits all of them."""
    _warm_up(plan, peers, folder)
    for workload in plan.workloads:
        able = [peer for peer in peers if peer.can_run(workload)]
        if not able:
            continue
        check_facet_counts(workload, able)
        for clients in dict.fromkeys(min(each, workload.max_clients) for each in plan.clients):
            yield from _measure_workload(plan, workload, clients, able, folder)


def _measure_workload(
    plan: Plan, workload: Workload, clients: int, peers: Sequence[Peer], folder: Path
) -> Iterator[Series]:
    """One warm-up round of half the time, then the counted rounds, each in the reverse order of the one before."""
    series = {peer.name: Series(workload.name, clients, peer.name) for peer in peers}
    rates = dict.fromkeys(series, 0.0)
    for number in range(plan.rounds + 1):
        first_body = number * workload.bodies // (plan.rounds + 1)
        seconds = plan.seconds if number else max(1.0, plan.seconds / 2)
        for peer in peers if number % 2 else reversed(peers):
            file = peer.bodies_file(workload, SEED, folder)
            if workload.draw == "distinct":
                clear_request_cache(plan.opensearch_url)
            with _traffic_beside(workload, peer, rates[peer.name]) as count:
                run = peer.run(workload, file, first_body, clients, seconds)
            rates[peer.name] = run.rate
            if number:
                series[peer.name].runs.append(replace(run, orders=count.orders))
    yield from series.values()


def _traffic_beside(workload: Workload, peer: Peer, rate: float) -> AbstractContextManager[OrderCount]:
    """The workload's changes and orders; orders are a share of the rate of the same peer's run before."""
    if peer.target is None or not workload.changes:
        return nullcontext(OrderCount())
    return background_traffic(peer.target, workload.changes, workload.orders * rate)


def clear_request_cache(opensearch_url: str) -> None:
    """Clears the engine's request cache, so that distinct bodies do not meet the responses of another run."""
    request_json("POST", f"{opensearch_url}/_cache/clear?request=true")


def _warm_up(plan: Plan, peers: Sequence[Peer], folder: Path) -> None:
    """Runs each peer with bodies that no run sends: an engine just started is two to three times slower."""
    workload = plan.workloads[0]
    for peer in peers:
        if peer.can_run(workload):
            file = peer.bodies_file(workload, SEED + 1, folder)
            peer.run(workload, file, 0, max(plan.clients), WARM_UP_SECONDS)
