"""Searches side by side: sizes, workloads and peers in; rates, medians and ratios of one interleaved run out."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.peers import plain, services, stac
from bench.peers.connection import ask
from bench.peers.services import Service
from bench.questions import KEEPING_NOTHING
from bench.report.figures import median, spread
from bench.runs import walk, wrk
from bench.runs.changing import Changed, Sold, changing
from bench.runs.wrk import Run
from bench.workloads.bodies import Workload, bodies_of, workloads
from mappings.folding import fold

OURS, PLAIN, RAW, OWN = "gear-api", "plain service", "raw _search", "raw _search, own index"
UNKEPT = "gear-api, nothing kept"
STAC = "stac-fastapi.opensearch"
# Peers that can be asked a workload: what is no part of a plain service is compared with nothing.
_ONLY_OURS = {"groups", "typing"}
_ONLY_FILTERS = {"cold", "hot", "deep", "mix"}  # what can be said to our index by hand
_ONLY_FIRST_PAGES = {"cold", "hot"}  # what the independent peer can be asked for
_KINDS = {OURS: "api", UNKEPT: "api", PLAIN: "api", RAW: "raw", OWN: "own", STAC: "stac"}  # whose bodies are the same
START_UP_SECONDS = 5.0  # for each peer, once
_COMPARED = 20  # bodies by which two peers are compared before a run
_PAGED = ("from", "track_total_hits")  # what a walk by `search_after` leaves out


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run: each workload with each number of clients, round after round, peer after peer."""

    workloads: tuple[Workload, ...]
    clients: tuple[int, ...]
    rounds: int
    seconds: float
    opensearch_url: str
    seed: int = 1


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

    def ordered(self) -> float:
        """Items ordered beside the requests, as a share of them."""
        return round(sum(run.ordered for run in self.runs) / sum(run.requests for run in self.runs), 4)

    def as_json(self) -> dict[str, Any]:
        """The medians, the spread of the rates, every round, and what share of the requests orders were."""
        return {
            "workload": self.workload,
            "clients": self.clients,
            "peer": self.peer,
            "rate": round(self.median("rate"), 1),
            "spread": spread(run.rate for run in self.runs),
            **({"items": round(items, 1)} if (items := self.median("item_rate")) else {}),
            **({"orders": self.ordered()} if self.ordered() else {}),
            "p50": self.median("p50"),
            "p99": self.median("p99"),
            "rounds": [asdict(run) for run in self.runs],
        }


@dataclass(frozen=True)
class Peer:
    """Who is asked, where, and how a body of ours is said to it."""

    name: str
    address: str
    path: str
    headers: Mapping[str, str]
    changed: Changed | None = None  # what changes beside a workload that wants it
    said: Callable[[dict[str, Any]], dict[str, Any]] | None = None  # how a body of ours is said to it, if otherwise
    walks_only: bool = False  # and counts: what else can be asked by hand is asked of the plain index

    def knows(self, workload: Workload) -> bool:
        """Whether the peer can be asked this at all."""
        if workload.is_walk:
            return self.name in (OURS, UNKEPT, OWN)
        if self.name == OWN:
            return workload.counts or (workload.name in _ONLY_FILTERS and not self.walks_only)
        if self.name == STAC:
            return workload.name in _ONLY_FIRST_PAGES
        return self.name in (OURS, UNKEPT) or workload.name not in _ONLY_OURS

    def written(self, workload: Workload, seed: int, folder: Path) -> Path:
        """The workload's bodies as this peer reads them, one a line."""
        file = folder / f"{workload.name}-{seed}-{_KINDS[self.name]}.ndjson"
        if not file.exists():
            bodies = bodies_of(workload, seed)
            said = bodies if self.said is None else [self.said(body) for body in bodies]
            file.write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")
        return file

    def run(self, workload: Workload, file: Path, first: int, clients: int, seconds: float) -> Run:
        """One run with the bodies of the file from the `first` on; raises BrokenRunError."""
        load = walk.run if workload.is_walk else wrk.run
        return load(self.address, self.path, file, first=first, clients=clients, seconds=seconds, headers=self.headers)


@contextmanager
def peers(
    opensearch_url: str,
    prefix: str,
    plain_index: str | None,
    folder: Path,
    workers: int,
    independent: AbstractContextManager[Service] | None = None,
    *,
    unkept: bool = False,
) -> Iterator[tuple[list[Peer], Service]]:
    """All peers, started, both services in so many processes, the independent one where it is given; and this service.

    Our index is walked and counted by hand, and searched by hand where there is no plain one. `unkept` adds this
    service where it keeps no answers.
    """
    with ExitStack() as stack:
        receiver = stack.enter_context(services.receiver(folder))
        changed = Changed(opensearch_url, f"{prefix}-730", cents=True, callbacks=f"{receiver.address}/hooks")
        received = {"GEAR_ALLOW_INSECURE_CALLBACKS": "true"}

        def mine(name: str, database: str, more: Mapping[str, str]) -> tuple[Peer, Service]:
            # each has its own orders, or it would do the work of the other's too
            made = services.gear_api(
                opensearch_url,
                prefix,
                folder,
                workers,
                f"sqlite+aiosqlite:///{folder}/{database}",
                {**received, **more},
            )
            service = stack.enter_context(made)
            sold = replace(changed, orders=service.address, headers=service.headers)
            return Peer(name, service.address, "/v1/gear/search", service.headers, sold), service

        first, ours = mine(OURS, "bench.db", {})
        asked = [first, *([mine(UNKEPT, "bench-unkept.db", KEEPING_NOTHING)[0]] if unkept else [])]
        to_engine = (opensearch_url, f"/{prefix}-730/_search", {"Content-Type": "application/json"})
        if plain_index is not None:
            other = stack.enter_context(services.plain(opensearch_url, plain_index, folder, workers))
            its = Changed(opensearch_url, plain_index, cents=False)
            path = f"/{plain_index}/_search"
            asked.append(Peer(PLAIN, other.address, "/v1/gear/search", other.headers, its))
            asked.append(Peer(RAW, opensearch_url, path, other.headers, its, plain.query_of))
        asked.append(Peer(OWN, *to_engine, changed, own_query_of, walks_only=plain_index is not None))
        if independent is not None:
            third = stack.enter_context(independent)
            asked.append(Peer(STAC, third.address, "/search", third.headers, said=stac.query_of))
            check_agreement(asked[0], asked[-1])
        yield asked, ours


def check_agreement(ours: Peer, third: Peer) -> None:
    """Raises RuntimeError where the independent peer does not find what we find: it would be measured at other work.

    A tenth is left to prices that the workload `mix` has changed here alone. What it did not count in time is left out.
    """
    known = workloads()
    for name in sorted(_ONLY_FIRST_PAGES):
        bodies = bodies_of(known[name], 1)[:_COMPARED]
        found = [ask("POST", ours.address + ours.path, body, ours.headers)["total"] for body in bodies]
        others_told = [ask("POST", third.address + third.path, stac.query_of(body), third.headers) for body in bodies]
        told = [one.get("numberMatched") for one in others_told]
        pairs = [(one, other) for one, other in zip(found, told, strict=True) if other is not None]
        expected, others = sum(one for one, _ in pairs), sum(other for _, other in pairs)
        if not 0.9 * expected <= others <= 1.1 * expected:
            message = f"{STAC} finds {others:,} items by bodies of `{name}` by which this service finds {expected:,}"
            raise RuntimeError(message)


def check_counts(workload: Workload, ours: Peer, own: Peer) -> None:
    """Raises RuntimeError where the request by hand does not count what we count in the same index: total or facets."""
    for body in bodies_of(workload, 1)[:_COMPARED]:
        told = ask("POST", ours.address + ours.path, body, ours.headers)
        found = ask("POST", own.address + own.path, own_query_of(body), own.headers)
        expected = {facet: {row["value"]: row["count"] for row in rows} for facet, rows in told["facets"].items()}
        # we list a selected value that no item has, with 0
        expected = {facet: {value: n for value, n in counts.items() if n} for facet, counts in expected.items()}
        if (told["total"], expected) != (found["hits"]["total"]["value"], plain.counts_of(found)):
            message = f"{OURS} and {OWN} count differently by this body of `{workload.name}`: {json.dumps(body)}"
            raise RuntimeError(message)


def own_query_of(body: dict[str, Any]) -> dict[str, Any]:
    """The plain peer's request, said to this project's index: its fields' names, its cents, its folded words.

    One that counts leaves out what is bound by an order, as our counts do.
    """
    query: dict[str, Any] = _in_our_words(plain.query_of(body))
    if "facets" in body:
        query["query"]["bool"]["must_not"] = [{"term": {"bound": True}}]
    if "cursor" in body:
        return {name: part for name, part in query.items() if name not in _PAGED}
    return query


def _in_our_words(part: Any) -> Any:
    """A part of the plain peer's request with the clauses inside said to our index."""
    if isinstance(part, list):
        return [_in_our_words(one) for one in part]
    if not isinstance(part, dict):
        return part
    match part:
        case {"range": {"price": bounds}}:
            return {"range": {"price": {end: round(bound * 100) for end, bound in bounds.items()}}}
        case {"terms": {"field": field, **more}}:
            return {"terms": {"field": _own_name(field), **more}}
        case {"terms": terms}:
            return {"terms": {f"{_own_name(name)}.folded": [fold(one) for one in terms[name]] for name in terms}}
    return {name: _in_our_words(inner) for name, inner in part.items()}


def _own_name(field: str) -> str:
    return field.removeprefix("details.")


def _meanwhile(workload: Workload, peer: Peer, rate: float) -> AbstractContextManager[Sold]:
    """What changes beside searches of this rate, as far as it is known: that of the same peer's run before."""
    if peer.changed is None or not workload.changes:
        return nullcontext(Sold())
    return changing(peer.changed, workload.changes, workload.orders * rate)


def forget(opensearch_url: str) -> None:
    """Clears the answers that the engine keeps: distinct bodies shall not meet those of another run."""
    ask("POST", f"{opensearch_url}/_cache/clear?request=true")


def _start_up(plan: Plan, asked: list[Peer], folder: Path) -> None:
    """An engine that was just started takes two or three times as long: what is asked first would be slow.

    It is asked other bodies than those of the runs, which may be kept.
    """
    workload = plan.workloads[0]
    for peer in asked:
        if peer.knows(workload):
            file = peer.written(workload, plan.seed + 1, folder)
            peer.run(workload, file, 0, max(plan.clients), START_UP_SECONDS)


def measure(plan: Plan, asked: list[Peer], folder: Path) -> Iterator[Series]:
    """Warms each peer up, then runs them in turn, so that a noisy minute hits all of them."""
    _start_up(plan, asked, folder)
    for workload in plan.workloads:
        if workload.counts:
            by_name = {peer.name: peer for peer in asked}
            check_counts(workload, by_name[OURS], by_name[OWN])
        for clients in plan.clients:
            known = [peer for peer in asked if peer.knows(workload)]
            series = {peer.name: Series(workload.name, clients, peer.name) for peer in known}
            rates = dict.fromkeys(series, 0.0)
            for number in range(-1, plan.rounds):  # the first is the warm-up and not counted
                for peer in known:
                    file = peer.written(workload, plan.seed, folder)
                    first = (number + 1) * workload.bodies // (plan.rounds + 1)
                    seconds = plan.seconds if number >= 0 else max(1.0, plan.seconds / 2)
                    if workload.draw == "distinct":
                        forget(plan.opensearch_url)
                    with _meanwhile(workload, peer, rates[peer.name]) as sold:
                        found = peer.run(workload, file, first, clients, seconds)
                    rates[peer.name] = found.rate
                    if number >= 0:
                        series[peer.name].runs.append(replace(found, ordered=sold.items))
            yield from series.values()
