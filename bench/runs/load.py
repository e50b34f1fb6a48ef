"""Loads side by side: how many items and rounds in; rates, processor time and memory of one interleaved run out.

Three write the same documents into an index of the same definition, set up for filling in the same way, of which only
`gear-indexer load` reads the items themselves, validates them, proves what the index holds and swaps it in. The fourth
reads the items too, and writes them into the plain peer's own index.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch
from rich.console import Console
from rich.table import Table

from bench import data
from bench.report.figures import median, spread
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.engine.bulk import index_lines
from indexer.engine.generations import LOADING_SETTINGS
from indexer.sources.source import Source
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import Platform, read_platforms

RAW, OURS, LIBRARY = "raw _bulk, prepared bytes", "gear-indexer load", "parallel_bulk, prepared documents"
PLAIN = "parallel_bulk, the plain peer's index"
PEERS = (RAW, OURS, LIBRARY, PLAIN)
PREFIX = "bench-load"
PLATFORM = 730
VERSION = 1_767_225_600_000_000  # any time before now, in microseconds


@dataclass(frozen=True)
class Run:
    """One load: seconds from the process's start to its end, processor seconds of both sides, peak memory in MiB."""

    seconds: float
    client_seconds: float
    engine_seconds: float
    memory: float
    report: dict[str, Any] = field(default_factory=dict)  # of `gear-indexer load`


@dataclass
class Loads:
    """The runs of one peer."""

    peer: str
    items: int
    runs: list[Run] = field(default_factory=list)

    def median(self, name: str) -> float:
        """The median over the rounds of one of a run's numbers."""
        return median(self.runs, name)

    def rate(self) -> float:
        """Items a second, in the median round."""
        return self.items / self.median("seconds")

    def as_json(self) -> dict[str, Any]:
        """The rate, its spread, and every round."""
        return {
            "peer": self.peer,
            "rate": round(self.rate(), 1),
            "spread": spread(self.items / run.seconds for run in self.runs),
            "rounds": [asdict(run) for run in self.runs],
        }


@dataclass(frozen=True)
class Place:
    """Where is measured: the engine, the listings, and the same as prepared documents."""

    url: str
    client: OpenSearch
    listings: Path
    prepared: Path


def place(items: int, url: str, folder: Path, *, filling: bool = True) -> Place:
    """The place of a bench with so many items, its files made where they are not there yet.

    Unless `filling`, the prepared documents may be missing: they take far more disk than the listings.
    """
    listings = data.listings(items, folder)
    prepared = listings.with_name(f"{listings.name}-{read_definition().fingerprint}.bulk")
    if filling and not prepared.exists():
        part = prepared.with_name(f"part-{prepared.name}")
        _prepare(listings, part)
        part.rename(prepared)
    client = connect(SearchSettings(_env_file=None, opensearch_url=url), timeout=600)
    return Place(url, client, listings, prepared)


def _prepare(listings: Path, prepared: Path) -> None:
    platform = _platform()
    with Source(str(listings)) as source, prepared.open("wb") as lines:
        for record in source.records():
            item = checked_item(record.content)
            document = encode_document(index_document(item, platform), VERSION).pieces
            lines.write(index_lines(item.id, VERSION, *document))


def _platform() -> Platform:
    found = read_platforms().by_id(PLATFORM)
    if found is None:
        message = f"platform {PLATFORM} is not known"
        raise RuntimeError(message)
    return found


def measure(where: Place, items: int, rounds: int, peers: tuple[str, ...] = PEERS) -> Iterator[tuple[Loads, Run]]:
    """Runs the peers in turn, so that a noisy minute hits all of them; the first round warms up and is not counted."""
    loads = {peer: Loads(peer, items) for peer in peers}
    for number in range(-1, rounds):
        for peer in peers:
            run = _run(where, peer, items)
            if number >= 0:
                loads[peer].runs.append(run)
                yield loads[peer], run


def _run(where: Place, peer: str, items: int) -> Run:
    _clean(where.client)
    index = f"{PREFIX}-{PLATFORM}"
    if peer == OURS:
        command = [str(Path(sys.executable).with_name("gear-indexer")), "load", str(where.listings)]
        command += ["--platform", str(PLATFORM), "--without-orders", "--quiet", "--json"]
    elif peer == PLAIN:
        command = [sys.executable, "-m", "bench.peers.loaders", "plain", str(where.listings), where.url, index]
    else:
        body = read_definition().create_body()
        settings = {**body["settings"], "index": {**body["settings"]["index"], **LOADING_SETTINGS}}
        where.client.indices.create(index=index, body={**body, "settings": settings})
        name = "raw" if peer == RAW else "parallel-bulk"
        command = [sys.executable, "-m", "bench.peers.loaders", name, str(where.prepared), where.url, index]
    before = engine_seconds(where.client)
    seconds, usage, output = _started(command, where)
    run = Run(
        seconds=round(seconds, 3),
        client_seconds=round(usage.ru_utime + usage.ru_stime, 3),
        engine_seconds=round(engine_seconds(where.client) - before, 3),
        memory=round(usage.ru_maxrss / 1024, 1),
        report=json.loads(output) if peer == OURS else {},
    )
    found = int(where.client.count(index=index)["count"])
    _clean(where.client)
    if found != items:
        message = f"{peer}: {found:,} of {items:,} items are in the index"
        raise RuntimeError(message)
    return run


def _started(command: list[str], where: Place) -> tuple[float, Any, bytes]:
    """Runs a command; its seconds, what it used, what it printed; raises RuntimeError where it failed."""
    names = {"GEAR_OPENSEARCH_URL": where.url, "GEAR_INDEX_PREFIX": PREFIX}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        path = os.pathsep.join((str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")))
        process = subprocess.Popen(command, env={**os.environ, **names, "PYTHONPATH": path}, cwd=folder, stdout=output)
        # unlike `wait`, it tells what this one child used
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read()
    if process.returncode:
        message = f"{command} ended with {process.returncode}: {printed[-1000:].decode(errors='replace')}"
        raise RuntimeError(message)
    return seconds, usage, printed


def engine_seconds(client: OpenSearch) -> float:
    """Seconds of processor time that all nodes have used since they were started; the engine looks once a second."""
    nodes = client.nodes.stats(metric="process")["nodes"].values()
    return float(sum(node["process"]["cpu"]["total_in_millis"] for node in nodes) / 1000)


def _clean(client: OpenSearch) -> None:
    client.indices.delete(index=f"{PREFIX}-*", params={"expand_wildcards": "all"})


def show(found: list[Loads]) -> None:
    """Prints the medians, and each rate as a share of the raw one."""
    table = Table("client", "items/s", "spread", "of raw", "client µs/item", "engine µs/item", "peak MiB")
    ceiling = next((one.rate() for one in found if one.peer == RAW), None)
    for one in found:
        low, high = one.as_json()["spread"]
        table.add_row(
            one.peer,
            f"{one.rate():,.0f}",
            f"{low:,.0f} to {high:,.0f}",
            "" if ceiling is None else f"{one.rate() / ceiling:.2f}",
            f"{one.median('client_seconds') / one.items * 1e6:.1f}",
            f"{one.median('engine_seconds') / one.items * 1e6:.1f}",
            f"{one.median('memory'):.0f}",
        )
    Console().print(table)
