"""The measured sections of docs/benchmarks.md: tables of the files of each kind of run."""

from collections.abc import Iterator, Sequence
from typing import Any

from bench.figures import median
from bench.peers.search_peers import NO_CACHE, OURS, OWN, PLAIN, RAW
from bench.report.markdown import number, table
from bench.report.measured import STAC, Measured
from bench.runs import load as loading

Json = dict[str, Any]

SEARCH_PEERS = (OURS, NO_CACHE, PLAIN, RAW, OWN, STAC)


def searches(files: Sequence[Measured]) -> str:
    """A table for each file."""
    return "\n\n".join(f"{file.title_with_rounds}\n\n{search_table(file)}" for file in files)


def search_table(file: Measured) -> str:
    """A row for each workload and number of clients, a column for each peer."""
    peers = [peer for peer in SEARCH_PEERS if any(row["peer"] == peer for row in file.series)]
    rows = []
    for workload, clients in dict.fromkeys((row["workload"], row["clients"]) for row in file.series):
        ours = file.find(workload, clients, OURS)
        cells = [_search_cell(file.find(workload, clients, peer), ours) for peer in peers]
        rows.append([f"`{workload}`", str(clients), *cells])
    return table(["workload", "clients", *peers], rows)


def _search_cell(row: Json | None, ours: Json | None) -> str:
    if row is None:
        return ""
    text = f"{number(row['rate'])}, {number(row['p50'] / 1000)}, {number(row['p99'] / 1000)} ms"
    if "items" in row:
        text += f", {row['items']:,.0f} items/s"
    return text if ours is None or row is ours else f"{text} ({ours['rate'] / row['rate']:.2f})"


def loads(files: Sequence[Measured]) -> str:
    """A table for each file."""
    head = ["client", "items/s", "spread", "client µs/item", "engine µs/item", "peak MiB"]
    return "\n\n".join(f"{file.title_with_rounds}\n\n{table(head, list(_load_rows(file)))}" for file in files)


def _load_rows(file: Measured) -> Iterator[list[str]]:
    if file.is_report:  # it knows nothing of the engine's processor time
        yield [loading.OURS, f"{file.content['rates']['items']:,.0f}", "", "", "", ""]
    for row in file.series:
        low, high = row["spread"]
        runs = [loading.Run(**run) for run in row["rounds"]]
        each = [f"{median(runs, name) / file.items * 1e6:.1f}" for name in ("client_seconds", "engine_seconds")]
        yield [
            row["peer"],
            f"{row['rate']:,.0f}",
            f"{low:,.0f} to {high:,.0f}",
            *each,
            f"{median(runs, 'memory'):.0f}",
        ]
