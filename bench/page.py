"""The measured parts of docs/benchmarks.md: JSON files of runs in; tables and plots in the page's marked regions out.

A region lies between `<!-- measured: NAME -->` and `<!-- end -->`, where NAME is one of REGIONS. Plots are Mermaid's
bars, lying, each with its size and peer beside it: they need no legend, and a size that lacks a peer leaves no hole.
"""

import json
import math
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import load as loading
from bench.figures import median
from bench.search import OURS, OWN, PLAIN, RAW, STAC

Json = dict[str, Any]

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
SEARCH_PEERS = (OURS, PLAIN, RAW, OWN, STAC)
PLOTTED = ("cold", "hot")  # the workloads that the goals are about
_PLOTS = (("requests a second", "rate", 1), ("median ms", "p50", 1000), ("99th percentile ms", "p99", 1000))
_BAR_COLOUR = "#8fb3d9"  # dark enough on white, light enough behind its number
_REGION = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


class PageError(ValueError):
    """Files that no page can be made of; the text says which."""


@dataclass(frozen=True)
class Measured:
    """One file: its name, and what it holds."""

    name: str
    content: Json

    @property
    def items(self) -> int:
        """Of how many listings it tells."""
        return int(self.content["read"] if self.is_report else self.content["items"])

    @property
    def workers(self) -> int:
        """How many processes each service had."""
        return int(self.content.get("workers", 1))

    def clients(self, workload: str) -> set[int]:
        """With how many clients a workload was asked."""
        return {one["clients"] for one in self.content["series"] if one["workload"] == workload}

    @property
    def is_report(self) -> bool:
        """Whether it is what `gear-indexer load --json` printed."""
        return "proof" in self.content

    def has(self, *names: str) -> bool:
        """Whether it holds series that have all of these."""
        series = self.content.get("series") or [{}]
        return all(name in series[0] for name in names)

    def told(self) -> str:
        """Where its rounds are and how they came to be."""
        link = f"[{self.items:,} listings](measured/{self.name})"
        if self.is_report:
            proof = "agrees" if self.content["proof"]["agrees"] else "does not agree"
            minutes = self.content["seconds"] / 60
            return f"{link}: one load by `gear-indexer load`, {minutes:.0f} minutes; the proof {proof}."
        rounds = max(len(one["rounds"]) for one in self.content["series"])
        widths = [(high - low) / one["rate"] for one in self.content["series"] for low, high in [one["spread"]]]
        made, cores = self.content["at"][:10], self.content["machine"]["cores"]
        more = f", {STAC} {self.content['stac']}" if "stac" in self.content else ""
        if self.workers > 1:
            more += f", {self.workers} workers of each service"
        apart = f"which lie {statistics.median(widths):.0%} apart in the median and {max(widths):.0%} at most"
        how = f"commit `{self.content['commit']}`, {cores} cores{more}"
        return f"{link}: {made}, {how}; medians of {rounds} rounds, {apart}."


def read(files: Sequence[Path]) -> list[Measured]:
    """The files, the smallest number of items first; raises PageError for one of no known kind."""
    found = [Measured(file.name, json.loads(file.read_text(encoding="utf-8"))) for file in files]
    for one in found:
        if not (is_search(one) or is_load(one)):
            message = f"{one.name} holds neither searches nor loads: leave it out"
            raise PageError(message)
    return sorted(found, key=lambda one: (one.items, one.name))


def is_search(one: Measured) -> bool:
    """Whether it was written by `python -m bench search`."""
    return one.has("workload", "clients", "peer")


def is_load(one: Measured) -> bool:
    """Whether it was written by `python -m bench load`, or is the report of one load."""
    return one.is_report or (one.has("peer", "rounds") and not is_search(one))


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
        return f"{region[1]}\n{told([one for one in files if fits(one)])}\n\n{region[3]}"

    return _REGION.sub(made, page)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plot(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """Lying bars, each with its text."""
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name, _ in bars)
    values = ", ".join(f"{value:.4g}" if value < 1000 else f"{value:.0f}" for _, value in bars)
    most = max(value for _, value in bars)
    look = {
        "xyChart": {"height": 90 + 36 * len(bars), "showDataLabel": True, "titleFontSize": 16},
        "themeVariables": {"xyChart": {"plotColorPalette": _BAR_COLOUR}},
    }
    lines = ["```mermaid", f"%%{{init: {json.dumps(look)}}}%%", "xychart-beta horizontal"]
    lines += [f'    title "{title}"', f"    x-axis [{names}]"]
    # without an end of its own the axis would begin at the least value, whose bar were none
    return "\n".join([*lines, f"    y-axis 0 --> {math.ceil(most * 1.1)}", f"    bar [{values}]", "```"])


def size(items: int) -> str:
    """A number of items in words: `100 thousand`, `10 million`."""
    for unit, name in ((1_000_000, "million"), (1000, "thousand")):
        if items % unit == 0:
            return f"{items // unit} {name}"
    return f"{items:,}"


def number(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"
