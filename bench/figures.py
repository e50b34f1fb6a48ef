"""Medians, spreads and percentiles of repeated runs."""

import statistics
from collections.abc import Iterable, Sequence


def median(rounds: Iterable[object], name: str) -> float:
    """The median over the rounds of one of their numbers."""
    return float(statistics.median(getattr(round_, name) for round_ in rounds))


def spread(values: Iterable[float]) -> list[float]:
    """The lowest and the highest, to a tenth."""
    ordered = sorted(values)
    return [round(ordered[0], 1), round(ordered[-1], 1)]


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]
