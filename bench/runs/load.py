"""Loads: prepared bytes, this project's indexer and the client library's `parallel_bulk`, in turn.

The first three write the same listings into an index of the same definition, set up for filling in the same way. Only
`gear-indexer load` reads the items themselves, validates them, writes their products too, proves what both indices hold
and swaps them in. The fourth reads the items too, and writes them into the plain service's own index.
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

from bench.figures import median, spread
from bench.peers.checkout import HERE
from bench.peers.data import PLATFORM, Data, engine_client
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.engine.bulk import index_lines
from indexer.engine.states import LOADING_SETTINGS
from indexer.sources.source import Source
from mappings.definition import read_definition
from mappings.platforms import read_platforms

RAW, OURS, LIBRARY = "raw _bulk, prepared bytes", "gear-indexer load", "parallel_bulk, prepared documents"
PLAIN = "parallel_bulk, the plain peer's index"
PEERS = (RAW, OURS, LIBRARY, PLAIN)
PREFIX = "bench-load"
INDEX = f"{PREFIX}-{PLATFORM}"
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

    def as_json(self) -> dict[str, Any]:
        """The items a second of the median round, their spread, and every round."""
        return {
            "peer": self.peer,
            "rate": round(self.items / median(self.runs, "seconds"), 1),
            "spread": spread(self.items / run.seconds for run in self.runs),
            "rounds": [asdict(run) for run in self.runs],
        }


def measure(data: Data, rounds: int) -> Iterator[tuple[Loads, Run]]:
    """Runs the peers in turn, so that a noisy minute hits all of them; the first round warms up and is not counted."""
    data.sample()
    prepared = prepared_documents(data.file)
    client = engine_client(data.opensearch_url)
    loads = {peer: Loads(peer, data.count) for peer in PEERS}
    for number in range(rounds + 1):
        for peer in PEERS:
            run = _run(data, client, prepared, peer)
            if number:
                loads[peer].runs.append(run)
                yield loads[peer], run


def prepared_documents(listings: Path) -> Path:
    """The listings without their products as bulk requests, made where they are missing; they take far more disk."""
    prepared = listings.with_name(f"{listings.name}-{read_definition().fingerprint}.bulk")
    if not prepared.exists():
        part = prepared.with_name(f"part-{prepared.name}")
        platform = next(platform for platform in read_platforms() if platform.id == PLATFORM)
        with Source(str(listings)) as source, part.open("wb") as lines:
            for record in source.records():
                item = checked_item(record.content)
                document = encode_document(index_document(item, platform), VERSION).pieces
                lines.write(index_lines(item.id, VERSION, *document))
        part.rename(prepared)
    return prepared


def _run(data: Data, client: OpenSearch, prepared: Path, peer: str) -> Run:
    _delete_indices(client)
    loader = [sys.executable, "-m", "bench.peers.loaders"]
    if peer == OURS:
        command = [HERE.program("gear-indexer"), "load", str(data.file)]
        command += ["--platform", str(PLATFORM), "--without-orders", "--quiet", "--json"]
    elif peer == PLAIN:
        command = [*loader, "plain", str(data.file), data.opensearch_url, INDEX]
    else:
        body = read_definition().create_body()
        settings = {**body["settings"], "index": {**body["settings"]["index"], **LOADING_SETTINGS}}
        client.indices.create(index=INDEX, body={**body, "settings": settings})
        command = [*loader, "raw" if peer == RAW else "parallel-bulk", str(prepared), data.opensearch_url, INDEX]
    engine_before = engine_seconds(client)
    seconds, usage, output = _run_process(command, data.opensearch_url)
    run = Run(
        seconds=round(seconds, 3),
        client_seconds=round(usage.ru_utime + usage.ru_stime, 3),
        engine_seconds=round(engine_seconds(client) - engine_before, 3),
        memory=round(usage.ru_maxrss / 1024, 1),
        report=json.loads(output) if peer == OURS else {},
    )
    indexed = int(client.count(index=INDEX)["count"])
    _delete_indices(client)
    if indexed != data.count:
        message = f"{peer}: {indexed:,} of {data.count:,} items are in the index"
        raise RuntimeError(message)
    return run


def _run_process(command: list[str], opensearch_url: str) -> tuple[float, Any, bytes]:
    """Runs a command: its seconds, its resource usage, its output; raises RuntimeError where it fails."""
    environment = HERE.environment({"GEAR_OPENSEARCH_URL": opensearch_url, "GEAR_INDEX_PREFIX": PREFIX})
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=stdout)
        # unlike `wait`, wait4 returns the usage of this one child
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        output = stdout.read()
    if process.returncode:
        message = f"{command} ended with {process.returncode}: {output[-1000:].decode(errors='replace')}"
        raise RuntimeError(message)
    return seconds, usage, output


def engine_seconds(client: OpenSearch) -> float:
    """Processor seconds that all nodes have used since they were started; the engine looks once a second."""
    nodes = client.nodes.stats(metric="process")["nodes"].values()
    return float(sum(node["process"]["cpu"]["total_in_millis"] for node in nodes) / 1000)


def _delete_indices(client: OpenSearch) -> None:
    client.indices.delete(index=f"{PREFIX}-*", params={"expand_wildcards": "all"})
