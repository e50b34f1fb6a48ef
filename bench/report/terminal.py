"""Tables of measured runs on the terminal."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.figures import percentile
from bench.peers.search_peers import OURS
from bench.report.sections import change_tables
from bench.runs.load import RAW, Loads
from bench.runs.orders import Orders
from bench.runs.search import Series

MIN_COLUMNS = 120  # where the output is no terminal it would be 80, and names would be cut
LATENCIES = ("p50 ms", "p99 ms")


def show(table: Table) -> None:
    """Prints a table with all of its words, also into a file."""
    Console(width=max(Console().width, MIN_COLUMNS)).print(table)


def _range(spread: Sequence[float]) -> str:
    low, high = spread
    return f"{low:,.0f} to {high:,.0f}"


def _latencies(series: Series) -> list[str]:
    return [f"{series.median(name) / 1000:.2f}" for name in ("p50", "p99")]


def show_searches(measured: Sequence[Series]) -> None:
    """The medians, and this service's rate as a multiple of each peer's."""
    table = Table("workload", "clients", "peer", "requests/s", "spread", *LATENCIES, "rate of ours", "items/s")
    ours = {(series.workload, series.clients): series for series in measured if series.peer == OURS}
    for series in measured:
        rate, item_rate = series.median("rate"), series.median("item_rate")
        beside = ours.get((series.workload, series.clients))
        table.add_row(
            series.workload,
            str(series.clients),
            series.peer,
            f"{rate:,.0f}",
            _range(series.spread),
            *_latencies(series),
            "" if beside is None or beside is series else f"{beside.median('rate') / rate:.2f}",
            f"{item_rate:,.0f}" if item_rate else "",
        )
    show(table)


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


def show_loads(measured: Sequence[Loads]) -> None:
    """The medians, and each rate as a share of the raw one."""
    table = Table("client", "items/s", "spread", "of raw", "client µs/item", "engine µs/item", "peak MiB")
    raw = next((loads.rate for loads in measured if loads.peer == RAW), None)
    for loads in measured:
        table.add_row(
            loads.peer,
            f"{loads.rate:,.0f}",
            _range(loads.spread),
            "" if raw is None else f"{loads.rate / raw:.2f}",
            *(f"{loads.median(name) / loads.items * 1e6:.1f}" for name in ("client_seconds", "engine_seconds")),
            f"{loads.median('memory'):.0f}",
        )
    show(table)


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
            _range(orders.spread),
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


def show_changes(series: Sequence[dict[str, Any]]) -> None:
    """The tables of what was measured."""
    for head, rows in change_tables(series):
        table = Table(*head)
        for row in rows:
            table.add_row(*row)
        show(table)
