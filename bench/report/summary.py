"""What docs/benchmarks.md begins with: sentences and a picture, made of the measured files."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench.figures import size
from bench.peers.search_peers import OURS, PLAIN, RAW
from bench.report.results import STAC, Measured, PageError, is_load, is_search
from bench.runs import load as loading

CLIENTS = 8
SMALL, LARGE = 1_000_000, 10_000_000
REPEATED, NEW = "hot", "cold"
PEERS = {OURS: "this service", PLAIN: "plain service", RAW: "bare engine request", STAC: "independent service"}
COLOURS = {OURS: "#0072b2", PLAIN: "#999999", RAW: "#d8d8d8", STAC: "#e69f00"}  # told apart in grey too
TITLE = "Searches a second, as a multiple of the plain service's (8 clients, one worker)"
WIDTH, LABEL_WIDTH, BAR_HEIGHT, GAP, TOP = 800, 250, 18, 22, 46
FONT = 'font-family="Helvetica, Arial, sans-serif"'


@dataclass(frozen=True)
class Comparison:
    """The rates of the peers of one file in one workload, and their medians in ms."""

    file: Measured
    workload: str
    rates: dict[str, float]
    medians: dict[str, float]

    def ratio(self, peer: str) -> float:
        """This service's rate as a multiple of a peer's."""
        return self.rates[OURS] / self.rates[peer]

    @property
    def commit(self) -> str:
        """The version that was measured."""
        return f"commit {self.file.content['commit']}"


def comparison(
    files: Sequence[Measured], items: int, workload: str, clients: int = CLIENTS, peer: str = PLAIN
) -> Comparison:
    """The comparison of the newest file that has this service, the plain one and `peer`; PageError if none has."""
    newest_first = sorted(filter(is_search, files), key=lambda file: str(file.content["at"]), reverse=True)
    for file in newest_first:
        if file.items == items and file.content.get("workers", 1) == 1:
            by_peer = {name: row for name in PEERS if (row := file.find(workload, clients, name))}
            if {OURS, PLAIN, peer} <= set(by_peer):
                rates = {name: row["rate"] for name, row in by_peer.items()}
                return Comparison(file, workload, rates, {name: row["p50"] / 1000 for name, row in by_peer.items()})
    message = f"no file has {items:,} listings, `{workload}` with {clients} clients and {peer} for the summary"
    raise PageError(message)


def sentences(files: Sequence[Measured]) -> str:
    """What the software gains and costs beside a plain service on the same engine: a line each."""
    repeated, new = ([comparison(files, items, workload) for items in (SMALL, LARGE)] for workload in (REPEATED, NEW))
    one_client = comparison(files, LARGE, NEW, clients=1)
    load_files = [file for file in files if is_load(file)]
    report = max((file for file in load_files if file.is_report), key=lambda file: file.items)
    beside = next(file for file in load_files if len(file.series) == len(loading.PEERS))
    loads = {row["peer"]: row["rate"] for row in beside.series}
    memory = repeated[0].file.content["memory"]["after"]
    lines = [
        f"**Repeated searches**: {_times(repeated)}.",
        f"**New searches**: {_times(new)}.",
        f"**Waiting**: a new search among {size(LARGE)} listings takes {one_client.medians[OURS]:.2g} ms in the "
        f"median; the plain service takes {one_client.medians[PLAIN]:.2g} ms.",
        f"**Loading**: {size(report.items)} listings take {report.content['seconds'] / 60:.0f} minutes; a plain index, "
        f"which finds less, loads {loads[loading.PLAIN] / loads[loading.OURS]:.1f} times as fast.",
        f"**Memory**: a worker holds {memory / 1_000_000:.0f} MB after searches of every kind among {size(SMALL)} "
        "listings.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _times(sizes: Sequence[Comparison]) -> str:
    small, large = (f"{each.ratio(PLAIN):.2g} times" for each in sizes)
    return f"{small} the plain service's rate with {size(SMALL)} listings, {large} with {size(LARGE)}"


def picture(files: Sequence[Measured]) -> str:
    """Bars of each peer's rate as a multiple of the plain service's in the same run, as SVG."""
    groups = [comparison(files, items, workload) for items in (SMALL, LARGE) for workload in (REPEATED, NEW)]
    highest = max(group.ratio(PLAIN) for group in groups)
    scale = (WIDTH - LABEL_WIDTH - 70) / highest
    parts: list[str] = [_text(16, 26, TITLE, 'font-size="15" font-weight="bold"')]
    y = TOP
    for group in groups:
        kind = "repeated searches" if group.workload == REPEATED else "new searches"
        parts.append(_text(16, y + 13, f"{size(group.file.items)} listings,", 'font-size="13"'))
        parts.append(_text(16, y + 30, kind, 'font-size="13"'))
        parts.append(_text(16, y + 46, group.commit, 'font-size="11"'))
        bars = [(PEERS[peer], peer, group) for peer in group.rates if peer != STAC]
        if group.file.items == SMALL:
            independent = comparison(files, SMALL, group.workload, peer=STAC)
            bars.append((f"{PEERS[STAC]}, {independent.commit}", STAC, independent))
        for name, peer, run in bars:
            value = run.rates[peer] / run.rates[PLAIN]
            parts += _bar(y, name, COLOURS[peer], value, value * scale)
            y += BAR_HEIGHT
        y += GAP
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" {FONT}>'
    background = f'<rect width="{WIDTH}" height="{y}" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{escape(TITLE)}</title>", background, *parts, "</svg>", ""])


def _bar(y: int, name: str, colour: str, value: float, width: float) -> list[str]:
    label = _text(LABEL_WIDTH - 8, y + 13, name, 'font-size="12" text-anchor="end"')
    bar = f'<rect x="{LABEL_WIDTH}" y="{y + 2}" width="{max(width, 1):.1f}" height="{BAR_HEIGHT - 4}" fill="{colour}"/>'
    amount = _text(round(LABEL_WIDTH + width + 6), y + 13, f"{value:.1f} ×", 'font-size="12"')
    return [label, bar, amount]


def _text(x: int, y: int, text: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" fill="#222222" {style}>{escape(text)}</text>'
