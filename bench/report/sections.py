"""The measured sections of docs/benchmarks.md: tables of the files of each kind of run."""

from collections.abc import Iterator, Sequence
from typing import Any

from bench.figures import median
from bench.peers.search_peers import NO_CACHE, OURS, OWN, PLAIN, RAW, STAC
from bench.report.markdown import number, table
from bench.report.measured import Measured
from bench.runs import load as loading

Json = dict[str, Any]

SEARCH_PEERS = (OURS, NO_CACHE, PLAIN, RAW, OWN, STAC)
MIB = 2**20


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


def matches(files: Sequence[Measured]) -> str:
    """A table for each file: a row for each number of matches, a column for each peer."""
    parts = []
    for file in files:
        peers = list(dict.fromkeys(row["peer"] for row in file.series))
        by_key = {(row["matches"], row["peer"]): row for row in file.series}
        rows = [
            [f"{count:,}", *(_matches_cell(by_key[count, peer], by_key[count, peers[0]]) for peer in peers)]
            for count in dict.fromkeys(row["matches"] for row in file.series)
        ]
        count = min(row["searches"] for row in file.series)
        parts += [f"{file.title}; {count} searches of each number of matches.", table(["matches", *peers], rows)]
    return "\n\n".join(parts)


def _matches_cell(row: Json, ours: Json) -> str:
    text = f"{number(row['ms'])}, {number(row['p90'])} ms"
    return text if row is ours else f"{text} ({row['ms'] / ours['ms']:.2f})"


def memory(files: Sequence[Measured]) -> str:
    """The verdict, and a table of the tenths, for each file."""
    parts = []
    for file in files:
        verdict: Json = file.content["verdict"]
        first, last, highest = (f"{verdict[name] / MIB:.1f} MiB" for name in ("first", "last", "max"))
        flat = "flat" if verdict["flat"] else "not flat"
        within = "within" if verdict["within"] else "above"
        parts.append(f"{file.title}; {first} in the first tenth, {last} in the last: {flat}.")
        parts.append(f"The highest sample is {highest}: {within} 150 MB.")
        requests = [f"{tenth['requests']:,}" for tenth in verdict["tenths"]]
        resident = [f"{tenth['resident'] / MIB:.1f}" for tenth in verdict["tenths"]]
        parts.append(table(["requests answered", *requests], [["MiB resident", *resident]]))
    return "\n\n".join(parts)


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
