"""Figures of repeated runs: rounds in, medians and spread out; tables of them on the terminal."""

import statistics
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

LEAST_COLUMNS = 120  # where the output is no terminal it would be 80, and names would be cut


def median(rounds: Iterable[object], name: str) -> float:
    """The median over the rounds of one of their numbers."""
    return float(statistics.median(getattr(one, name) for one in rounds))


def spread(values: Iterable[float]) -> list[float]:
    """The least and the most, to a tenth."""
    held = list(values)
    return [round(min(held), 1), round(max(held), 1)]


def percentile(sorted_values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def show_wide(table: Table) -> None:
    """Prints a table of many columns with all of its words, also into a file."""
    Console(width=max(Console().width, LEAST_COLUMNS)).print(table)
