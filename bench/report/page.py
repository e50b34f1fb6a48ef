"""The measured parts of docs/benchmarks.md: JSON files of runs in; tables and plots in the page's marked regions out.

A region lies between `<!-- measured: NAME -->` and `<!-- end -->`, where NAME is one of REGIONS. Plots are Mermaid's
bars, lying, each with its size and peer beside it: they need no legend, and a size that lacks a peer leaves no hole.
What grows with something else is drawn as lines (bench.report.curves).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.figures import median
from bench.peers.search_peers import OURS, OWN, PLAIN, RAW, STAC
from bench.report import curves
from bench.report.markdown import number, plot, size, table
from bench.report.measured import Measured, PageError, is_load, is_matches, is_memory, is_search
from bench.runs import load as loading

Json = dict[str, Any]

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
MEASURED = PAGE.parent / "measured"
SEARCH_PEERS = (OURS, PLAIN, RAW, OWN, STAC)
NOTHING = "No run of it is kept yet."
PLOTTED = ("cold", "hot")  # the workloads that the goals are about
_PLOTS = (("requests a second", "rate", 1), ("median ms", "p50", 1000), ("99th percentile ms", "p99", 1000))
_REGION = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def searches(files: Sequence[Measured]) -> str:
    """A table for each file, and plots over all sizes."""
    parts = ["Requests a second, median and 99th percentile in ms; in brackets how many times the peer's rate is ours."]
    for file in files:
        parts += [file.told(), search_table(file.content["series"])]
    for workload in PLOTTED:
        # of several runs of one kind the last: bars of different runs say nothing beside each other
        runs = {(file.items, file.workers): file for file in files if file.clients(workload)}
        clients = max(set.intersection(*(one.clients(workload) for one in runs.values())) if runs else (), default=0)
        held = [
            (file, one)
            for file in runs.values()
            for one in file.content["series"]
            if (one["workload"], one["clients"]) == (workload, clients)
        ]
        for title, name, unit in _PLOTS:
            bars = [(f"{size(file.items)}, {_served_by(file, one)}", one[name] / unit) for file, one in held]
            if bars:
                parts.append(plot(f"{workload}, {clients} clients: {title}", bars))
    return "\n\n".join(parts)


def _served_by(file: Measured, one: Json) -> str:
    """The peer, with the number of its processes where it was asked for several."""
    several = file.workers > 1 and one["peer"] in (OURS, PLAIN)
    return f"{one['peer']} x{file.workers}" if several else str(one["peer"])


def search_table(series: Sequence[Json]) -> str:
    """A row for each workload and number of clients, a column for each peer."""
    peers = [peer for peer in SEARCH_PEERS if any(one["peer"] == peer for one in series)]
    held = {(one["workload"], one["clients"], one["peer"]): one for one in series}
    rows = []
    for workload, clients in dict.fromkeys((one["workload"], one["clients"]) for one in series):
        ours = held.get((workload, clients, OURS))
        cells = [search_cell(held.get((workload, clients, peer)), ours) for peer in peers]
        rows.append([f"`{workload}`", str(clients), *cells])
    return table(["workload", "clients", *peers], rows)


def search_cell(one: Json | None, ours: Json | None) -> str:
    """A peer's medians; its rate beside ours; and the items a second of a walk."""
    if one is None:
        return ""
    text = f"{number(one['rate'])}, {number(one['p50'] / 1000)}, {number(one['p99'] / 1000)} ms"
    if "items" in one:
        text += f", {one['items']:,.0f} items/s"
    return text if ours is None or one is ours else f"{text} ({ours['rate'] / one['rate']:.2f})"


def loads(files: Sequence[Measured]) -> str:
    """A table for each file, and one plot of all rates."""
    parts, bars = [], []
    for file in files:
        rows = [report_row(file)] if file.is_report else list(load_rows(file))
        head = ["client", "items/s", "spread", "client µs/item", "engine µs/item", "peak MiB"]
        parts += [file.told(), table(head, [row for _, row in rows])]
        bars += [(f"{size(file.items)}, {row[0]}", rate) for rate, row in rows]
    if bars:
        parts.append(plot("items loaded a second", bars))
    return "\n\n".join(parts)


def load_rows(file: Measured) -> Iterator[tuple[float, list[str]]]:
    """The rate and the row of each peer."""
    for one in file.content["series"]:
        low, high = one["spread"]
        runs = [loading.Run(**run) for run in one["rounds"]]
        each = [f"{median(runs, name) / file.items * 1e6:.1f}" for name in ("client_seconds", "engine_seconds")]
        memory = f"{median(runs, 'memory'):.0f}"
        yield one["rate"], [one["peer"], f"{one['rate']:,.0f}", f"{low:,.0f} to {high:,.0f}", *each, memory]


def report_row(file: Measured) -> tuple[float, list[str]]:
    """The rate and the row of the indexer's own report, which knows nothing of the engine's processor time."""
    rate = file.content["rates"]["items"]
    return rate, [loading.OURS, f"{rate:,.0f}", "", "", "", ""]


REGIONS: dict[str, tuple[Callable[[Measured], bool], Callable[[Sequence[Measured]], str]]] = {
    "searches": (is_search, searches),
    "matches": (is_matches, curves.costs),
    "memory": (is_memory, curves.memory),
    "loads": (is_load, loads),
}


def written(page: str, files: Sequence[Measured]) -> str:
    """The page with its regions made of the files; raises PageError where a region is missing or unknown."""
    found = [name for _, name, _ in _REGION.findall(page)]
    if sorted(found) != sorted(REGIONS):
        message = f"the page has the regions {found} and not each of {list(REGIONS)} once"
        raise PageError(message)

    def made(region: re.Match[str]) -> str:
        fits, told = REGIONS[region[2]]
        held = [one for one in files if fits(one)]
        return f"{region[1]}\n{told(held) if held else NOTHING}\n\n{region[3]}"

    return _REGION.sub(made, page)


def write(files: Sequence[Measured]) -> None:
    """Rewrites the page."""
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), files), encoding="utf-8")
