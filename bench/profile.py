"""Where a search's time goes: a loaded index in; processor time by whose work it is, and what the service adds to the
engine's own answer, out.
"""

import json
import signal
import statistics
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from bench.peers import services
from bench.peers.connection import Connection
from bench.questions import sent_for
from bench.runs.search import OURS, Peer
from bench.runs.wrk import run
from bench.workloads.bodies import Workload

BODIES: Final = 300
JSON: Final = {"Content-Type": "application/json"}
WARM_UP_SECONDS: Final = 3.0
LIBRARIES: Final = {
    "server (uvicorn, httptools)": ("uvicorn", "httptools", "python", "click"),
    "framework (fastapi, starlette)": ("fastapi", "starlette"),
    "models (pydantic)": ("pydantic", "pydantic_core"),
    "client of the engine (opensearch-py, aiohttp)": ("opensearchpy", "aiohttp", "yarl", "multidict", "propcache"),
    "log line (structlog)": ("structlog",),
    "counters (prometheus)": ("prometheus_client",),
}


@dataclass(frozen=True)
class OnTop:
    """Medians over bodies asked for the second time, by one client, milliseconds: the service's answer, the engine's
    to the same question straight, the difference body by body, and what the engine says that it took.
    """

    bodies: int
    service: float
    engine: float
    difference: float
    took: float


@dataclass(frozen=True)
class Spent:
    """Microseconds of the service's processor time a search, in all and by whose work."""

    clients: int
    rate: float
    total: float
    by: dict[str, float]


def spent(opensearch_url: str, prefix: str, folder: Path, workload: Workload, clients: int, seconds: float) -> Spent:
    """Searches under load, the service being watched from within."""
    told = folder / "profile-ticks.json"
    with services.gear_api(opensearch_url, prefix, folder, watched=told) as service:
        peer = Peer(OURS, service.address, "/v1/gear/search", service.headers)
        bodies = peer.written(workload, 1, folder)

        def load(first: int, lasting: float) -> Any:
            return run(
                peer.address, peer.path, bodies, first=first, clients=clients, seconds=lasting, headers=peer.headers
            )

        load(0, WARM_UP_SECONDS)
        service.process.send_signal(signal.SIGUSR1)
        began = service.busy()
        made = load(workload.bodies // 2, seconds)
        each = (service.busy() - began) * 1e6 / made.requests
    ticks: dict[str, int] = json.loads(told.read_text(encoding="utf-8"))
    return Spent(clients, round(made.rate, 1), round(each, 1), time_by_owner(ticks, each))


def time_by_owner(ticks: dict[str, int], each: float) -> dict[str, float]:
    """Microseconds a search by the names of LIBRARIES, modules of ours as they are, the rest together."""
    names = {member: name for name, members in LIBRARIES.items() for member in members}
    found: dict[str, float] = {}
    for owner, count in ticks.items():
        ours = owner.partition(".")[0] in ("api", "mappings", "store")
        name = owner if ours else names.get(owner, "others")
        found[name] = found.get(name, 0.0) + count * each / sum(ticks.values())
    return {name: round(found[name], 1) for name in sorted(found, key=lambda one: -found[one])}


def on_top(opensearch_url: str, prefix: str, folder: Path, bodies: Sequence[dict[str, Any]]) -> OnTop:
    """One client, body by body: the service, then the engine with the very bytes that the service sent it."""
    held = [json.dumps(body).encode() for body in bodies]
    sent = [last_request(one) for one in sent_for(opensearch_url, prefix, folder, held)]
    times: list[tuple[float, float, int]] = []
    with (
        services.gear_api(opensearch_url, prefix, folder) as service,
        closing(Connection(service.address, service.headers)) as ours,
        closing(Connection(opensearch_url, JSON)) as engines,
    ):
        for counted in (False, True):
            for body, (path, question) in zip(held, sent, strict=True):
                _, through = ours.ask("POST", "/v1/gear/search", body)
                answer, straight = engines.ask("POST", path, question)
                if counted:
                    times.append((through, straight, json.loads(answer)["took"]))
    return OnTop(
        bodies=len(times),
        service=_milliseconds([through for through, _, _ in times]),
        engine=_milliseconds([straight for _, straight, _ in times]),
        difference=_milliseconds([through - straight for through, straight, _ in times]),
        took=statistics.median(took for _, _, took in times),
    )


def last_request(sent: bytes) -> tuple[str, bytes]:
    """The path and the body of the last request in these bytes."""
    head, _, body = sent[sent.rindex(b"POST /") :].partition(b"\r\n\r\n")
    return head.split(b" ")[1].decode(), body


def _milliseconds(seconds: Sequence[float]) -> float:
    return round(statistics.median(seconds) * 1000, 2)


def as_json(found: Sequence[Spent], added: OnTop) -> list[dict[str, Any]]:
    """Both as series."""
    return [*(asdict(one) for one in found), {"onTop": asdict(added)}]


def show(found: Sequence[Spent], added: OnTop) -> None:
    """Prints both."""
    for one in found:
        table = Table(f"{one.clients} clients, {one.rate:,.0f}/s", "µs a search", "share")
        table.add_row("all", f"{one.total:,.0f}", "100 %")
        for name, each in one.by.items():
            table.add_row(name, f"{each:,.0f}", f"{each / one.total:.0%}")
        Console().print(table)
    table = Table("one client, bodies asked before", "median ms")
    for name, value in asdict(added).items():
        table.add_row(name, f"{value:g}")
    Console().print(table)
