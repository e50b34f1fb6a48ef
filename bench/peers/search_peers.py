"""The peers of a search benchmark: how each is started, which workloads it can be asked, and how."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.clients import cursor, wrk
from bench.clients.background import Target
from bench.clients.connection import JSON_HEADERS, request_json
from bench.clients.wrk import Run
from bench.peers import own_index, plain, services
from bench.peers.checkout import HERE, Checkout
from bench.peers.data import PLATFORM, Data, database_file
from bench.peers.services import Service
from bench.workloads.bodies import Json, Workload, bodies_of, line_of

OURS, PLAIN, RAW, OWN = "gear-api", "plain service", "raw _search", "raw _search, own index"
NO_CACHE = "gear-api, no response cache"
SEARCH_PATH = "/v1/gear/search"
CACHE_OFF = {"GEAR_RESPONSE_CACHE_MIB": "0"}
COMPARED_BODIES = 20  # by which two peers are compared before a run
_NOT_PLAIN = {"groups", "typing", "suggestions", "export"}  # what a plain service does not offer


@dataclass(frozen=True)
class Peer:
    """A service or index under test: its address, and how a body of ours is translated for it."""

    name: str
    address: str
    path: str
    headers: Mapping[str, str]
    kind: str = "gear-api"  # peers of one kind read the same bodies
    target: Target | None = None  # what changes beside a workload with changes
    translate: Callable[[Json], Json] | None = None

    def can_run(self, workload: Workload) -> bool:
        """Whether the peer has what the workload asks for."""
        match self.kind:
            case "gear-api":
                return True
            case "own":  # its other searches are measured on the plain index
                return workload.is_paged or (workload.has_facets and workload.name not in _NOT_PLAIN)
        return workload.name not in _NOT_PLAIN

    def bodies_file(self, workload: Workload, seed: int, folder: Path) -> Path:
        """The workload's bodies as this peer reads them, one a line."""
        file = folder / f"{workload.name}-{seed}-{self.kind}.ndjson"
        if not file.exists():
            bodies = bodies_of(workload, seed)
            translated = bodies if self.translate is None else map(self.translate, bodies)
            file.write_text("".join(line_of(workload, body) + "\n" for body in translated), encoding="utf-8")
        return file

    def run(self, workload: Workload, file: Path, first: int, clients: int, seconds: float) -> Run:
        """One run with the bodies of the file from the `first` on; raises FailedRunError."""
        generator = cursor.run if workload.is_paged else wrk.run
        path = workload.path or self.path
        return generator(self.address, path, file, first=first, clients=clients, seconds=seconds, headers=self.headers)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which peers are measured, and with how many processes each service runs."""

    no_cache: bool
    beside: Checkout | None
    workers: int

    @property
    def beside_name(self) -> str:
        """The name of the other checkout's service."""
        return "" if self.beside is None else f"{OURS} {self.beside.commit()}"


@contextmanager
def start_peers(data: Data, selection: Selection) -> Iterator[tuple[list[Peer], Service]]:
    """Starts the selected peers, this service first; yields them and this service."""
    with ExitStack() as stack:
        starter = _Starter(data, selection.workers, stack)
        ours, service = starter.gear_api(OURS)
        peers = [ours]
        if selection.no_cache:
            peers.append(starter.gear_api(NO_CACHE, settings=CACHE_OFF)[0])
        if selection.beside is not None:
            peers.append(starter.gear_api(selection.beside_name, selection.beside)[0])
        else:
            peers += [*starter.plain_and_raw(), starter.own_index()]
        yield peers, service


class _Starter:
    """Starts one peer after the other, all with the same data and receiver of callbacks."""

    def __init__(self, data: Data, workers: int, stack: ExitStack) -> None:
        self._data = data
        self._workers = workers
        self._stack = stack
        self._receiver = stack.enter_context(services.callback_receiver(data.folder))

    def gear_api(
        self, name: str, checkout: Checkout = HERE, settings: Mapping[str, str] = services.NO_SETTINGS
    ) -> tuple[Peer, Service]:
        """This project's service, of this checkout or another, with an orders database of its own."""
        data = self._data
        prefix = data.prefix if checkout is HERE else data.prefix_of(checkout)
        database = database_file(data.folder, checkout, "-no-cache" if settings else "")
        service = self._stack.enter_context(
            services.gear_api(
                data.opensearch_url,
                prefix,
                data.folder,
                workers=self._workers,
                database_url=f"sqlite+aiosqlite:///{database}",
                settings={"GEAR_ALLOW_INSECURE_CALLBACKS": "true", **settings},
                checkout=checkout,
            )
        )
        target = Target(
            data.opensearch_url,
            f"{prefix}-{PLATFORM}",
            prices_in_cents=True,
            orders_address=service.address,
            headers=service.headers,
            callback_url=f"{self._receiver.address}/hooks",
        )
        return Peer(name, service.address, SEARCH_PATH, service.headers, target=target), service

    def plain_and_raw(self) -> list[Peer]:
        """The plain service, and its request sent to the engine without it."""
        data = self._data
        service = self._stack.enter_context(
            services.plain(data.opensearch_url, data.plain_index, data.folder, self._workers)
        )
        target = Target(data.opensearch_url, data.plain_index, prices_in_cents=False)
        peer = Peer(PLAIN, service.address, SEARCH_PATH, service.headers, "plain", target)
        path = f"/{data.plain_index}/_search"
        return [peer, Peer(RAW, data.opensearch_url, path, JSON_HEADERS, "raw", target, plain.query_of)]

    def own_index(self) -> Peer:
        """A request written by hand, sent to this project's index."""
        index = f"{self._data.prefix}-{PLATFORM}"
        return Peer(
            OWN,
            self._data.opensearch_url,
            f"/{index}/_search",
            JSON_HEADERS,
            "own",
            Target(self._data.opensearch_url, index, prices_in_cents=True),
            own_index.query_of,
        )


def check_facet_counts(workload: Workload, peers: Sequence[Peer]) -> None:
    """Raises RuntimeError where the request by hand and this service count different totals or facets in one index."""
    by_name = {peer.name: peer for peer in peers}
    if OWN not in by_name or not workload.has_facets:
        return
    ours, own = by_name[OURS], by_name[OWN]
    for body in bodies_of(workload, 1)[:COMPARED_BODIES]:
        response = request_json("POST", ours.address + ours.path, body, ours.headers)
        by_hand = request_json("POST", own.address + own.path, own_index.query_of(body), own.headers)
        # this service lists a selected value that no item has, with 0
        counts = {
            facet: {row["value"]: row["count"] for row in rows if row["count"]}
            for facet, rows in response["facets"].items()
            if isinstance(rows, list)  # histograms have edges of their own
        }
        counted = {facet: by_value for facet, by_value in plain.counts_of(by_hand).items() if facet in plain.DETAILS}
        if (response["total"], counts) != (by_hand["hits"]["total"]["value"], counted):
            message = f"{OURS} and {OWN} count differently by this body of `{workload.name}`: {json.dumps(body)}"
            raise RuntimeError(message)
