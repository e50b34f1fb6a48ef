"""Writes docs/benchmarks.md and its picture from the files in docs/measured.

A region of the page lies between `<!-- measured: NAME -->` and `<!-- end -->`, where NAME is one of REGIONS. What is
outside of the regions is written by hand.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.figures import median, number, range_text
from bench.peers.search_peers import NO_CACHE, OURS, OWN, PLAIN, RAW
from bench.report import summary
from bench.report.results import STAC, Json, Measured, PageError, is_at_size, is_changes, is_load, is_search
from bench.runs import load as loading

DOCS = Path(__file__).parents[2] / "docs"
MEASURED = DOCS / "measured"
NOTHING = "Not measured yet."
_REGION = re.compile(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->\n)", re.DOTALL)

SEARCH_PEERS = (OURS, NO_CACHE, PLAIN, RAW, OWN, STAC)


def searches(files: Sequence[Measured]) -> str:
    """A table for each file."""
    return "\n\n".join(f"{file.title_with_rounds}\n\n{_search_table(file)}" for file in files)


def _search_table(file: Measured) -> str:
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
        runs = [loading.Run(**run) for run in row["rounds"]]
        each = [f"{median(runs, name) / file.items * 1e6:.1f}" for name in ("client_seconds", "engine_seconds")]
        yield [
            row["peer"],
            *_rate_cells(row),
            *each,
            f"{median(runs, 'memory'):.0f}",
        ]


def changes(files: Sequence[Measured]) -> str:
    """The tables of each file."""
    texts = []
    for file in files:
        rounds = max(len(row["rounds"]) for row in file.series)
        runs = "one round" if rounds == 1 else f"medians of {rounds} rounds"
        texts += [f"{file.title}; {runs}.", *(table(*each) for each in _change_tables(file.series))]
    return "\n\n".join(texts)


_PARTS_OF_CHANGES: Final = ("writes", "latency", "burst", "waiting", "cheapest")


def _change_tables(series: Sequence[Json]) -> Iterator[tuple[list[str], list[list[str]]]]:
    """For each part that was measured the head and the rows of its table."""
    parts = {part: [row for row in series if row["part"] == part] for part in _PARTS_OF_CHANGES}
    bulk = next((row["rate"] for row in parts["writes"]), 0.0)
    if written := parts["writes"]:
        rows = [[row["name"], *_rate_cells(row), f"{row['rate'] / bulk:.2f}"] for row in written]
        yield ["way", "items/s", "spread", "of the load"], rows
    if waited := parts["latency"]:
        names = ("p50", "p90", "p99", "max")
        yield (
            ["a change until it is read, with", *(f"{name} s" for name in names)],
            [[row["name"], *(f"{row[name]:.2f}" for name in names)] for row in waited],
        )
    if read := parts["burst"]:
        rows = [[row["name"], *_rate_cells(row)] for row in read]
        yield ["changes that are behind, read by one", "changes/s", "spread"], rows
    if waiting := parts["waiting"]:
        yield (
            ["who waits", "cores, nothing changes", "cores, ten changes a second that concern nobody"],
            [[row["name"], *(f"{row[name]:.3f}" for name in ("idle", "beside"))] for row in waiting],
        )
    if ordered := parts["cheapest"]:
        rows = [
            [row["name"], *_rate_cells(row), *(number(row[name] * 1000) for name in ("p50", "p99"))] for row in ordered
        ]
        yield ["request", "orders/s", "spread", "p50 ms", "p99 ms"], rows


def _rate_cells(row: Json) -> list[str]:
    return [f"{row['rate']:,.0f}", range_text(row["spread"])]


def at_size(files: Sequence[Measured]) -> str:
    """A table for each file: a row for each phase, in their order."""
    texts = []
    for file in files:
        content = file.content
        head = (
            f"{file.title}; {content['nodes']} nodes with {content['heap']} of heap each, {content['shards']} shards."
        )
        rows = [
            [row["phase"], "; ".join(f"{name} {value:,}" for name, value in row["figures"].items())]
            for row in file.series
        ]
        texts.append(f"{head}\n\n{table(['what happened', 'measured'], rows)}")
    return "\n\n".join(texts)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


REGIONS: dict[str, tuple[Callable[[Measured], bool], Callable[[Sequence[Measured]], str]]] = {
    "summary": (lambda _: True, summary.sentences),
    "searches": (is_search, searches),
    "loads": (is_load, loads),
    "changes": (is_changes, changes),
    "at_size": (is_at_size, at_size),
}


def page(text: str, files: Sequence[Measured]) -> str:
    """The page with its regions made of the files; raises PageError where a region is missing or unknown."""
    names = [name for _, name, _ in _REGION.findall(text)]
    if sorted(names) != sorted(REGIONS):
        message = f"the page has the regions {names} and not each of {list(REGIONS)} once"
        raise PageError(message)

    def region(match: re.Match[str]) -> str:
        is_kind, section = REGIONS[match[2]]
        section_files = [file for file in files if is_kind(file)]
        return f"{match[1]}\n{section(section_files) if section_files else NOTHING}\n\n{match[3]}"

    return _REGION.sub(region, text)


def write(files: Sequence[Measured], docs: Path = DOCS) -> None:
    """Rewrites the page's regions, and the picture."""
    file = docs / "benchmarks.md"
    file.write_text(page(file.read_text(encoding="utf-8"), files), encoding="utf-8")
    (docs / "benchmarks.svg").write_text(summary.picture(files), encoding="utf-8")
