"""Measured runs on the terminal: as docs/benchmarks.md shows them, or as tables of their own."""

import statistics
from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.markdown import Markdown
from rich.table import Table

from bench.figures import percentile, range_text
from bench.peers.search_peers import OURS
from bench.runs.orders import Orders
from bench.runs.search import Series

MIN_COLUMNS = 120  # where the output is no terminal it would be 80, and names would be cut
LATENCIES = ("p50 ms", "p99 ms")


def show(content: RenderableType) -> None:
    """Prints a table or a text with all of its words, also into a file."""
    Console(width=max(Console().width, MIN_COLUMNS)).print(content)


def show_section(text: str) -> None:
    """Prints a section of the page."""
    show(Markdown(text))


def _latencies(series: Series) -> list[str]:
    return [f"{series.median(name) / 1000:.2f}" for name in ("p50", "p99")]


def show_beside(measured: Sequence[Series], other: str) -> None:
    """Before and after: both rates, and their ratio in the median round with its range.

    A row is slower or faster where the spreads of the two rates do not overlap.
    """
    table = Table(
        "workload", "clients", f"{other}, requests/s", "now", "ratio", "its range", "p99 ms before", "now", ""
    )
    by_key = {(series.workload, series.clients, series.peer): series for series in measured}
    for workload, clients in dict.fromkeys((series.workload, series.clients) for series in measured):
        before, now = by_key[workload, clients, other], by_key[workload, clients, OURS]
        ratios = sorted(new.rate / old.rate for old, new in zip(before.runs, now.runs, strict=True))
        table.add_row(
            workload,
            str(clients),
            f"{before.median('rate'):,.0f}",
            f"{now.median('rate'):,.0f}",
            f"{statistics.median(ratios):.2f}",
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}",
            _latencies(before)[1],
            _latencies(now)[1],
            _verdict(before.spread, now.spread),
        )
    show(table)


def _verdict(before: Sequence[float], now: Sequence[float]) -> str:
    if now[1] < before[0]:
        return "slower"
    return "faster" if now[0] > before[1] else ""


def show_order_rates(measured: Sequence[Orders]) -> None:
    """The medians of orders and their callbacks."""
    head = ("database", "workers", "clients", "orders/s", "spread", *LATENCIES)
    table = Table(*head, "cpu ms", "callback p50 ms", "callback p99 ms", "drain s")
    for orders in measured:
        table.add_row(
            orders.database,
            str(orders.workers),
            str(orders.clients),
            f"{orders.median('rate'):,.0f}",
            range_text(orders.spread),
            *(f"{orders.median(name) / 1000:.1f}" for name in ("p50", "p99")),
            f"{orders.median('cpu_ms'):.1f}",
            *(f"{orders.median(name):.0f}" for name in ("callback_p50", "callback_p99")),
            f"{orders.median('drain_seconds'):.1f}",
        )
    show(table)


def show_lags(measured: Mapping[str, Sequence[float]]) -> None:
    """Percentiles of the seconds until an ordered item is in no result."""
    table = Table("database", "orders", "p50 s", "p90 s", "p99 s", "max s")
    for database, seconds in measured.items():
        shares = [f"{percentile(seconds, share):.2f}" for share in (0.5, 0.9, 0.99)]
        table.add_row(database, str(len(seconds)), *shares, f"{seconds[-1]:.2f}")
    show(table)
