"""Figures of repeated runs: medians, spreads and percentiles, and how they are written."""

import statistics
from collections.abc import Iterable, Sequence


def median(rounds: Iterable[object], name: str) -> float:
    """The median over the rounds of one of their numbers."""
    return float(statistics.median(getattr(round_, name) for round_ in rounds))


def spread(values: Iterable[float]) -> list[float]:
    """The lowest and the highest, to a tenth."""
    ordered = sorted(values)
    return [round(ordered[0], 1), round(ordered[-1], 1)]


def range_text(spread: Sequence[float]) -> str:
    """A spread in words: `1,200 to 1,350`."""
    low, high = spread
    return f"{low:,.0f} to {high:,.0f}"


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def size(items: int) -> str:
    """A number of items in words: `100 thousand`, `10 million`."""
    for unit, name in ((1_000_000, "million"), (1000, "thousand")):
        if items % unit == 0:
            return f"{items // unit} {name}"
    return f"{items:,}"


def number(value: float) -> str:
    """Three digits, and all of those before the point."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"
