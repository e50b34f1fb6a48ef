"""Scores: answered texts of one peer in; success@1, success@5, MRR and broken filters by group, as a table, out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.relevance.judged import GROUPS, Answered

OVERALL = "overall"


@dataclass(frozen=True)
class Score:
    """Shares of the texts whose right item came first or among five, the mean of 1 / place, and broken filters.

    `broken` is the share among the texts that mean a filter.
    """

    texts: int
    first: float
    five: float
    mrr: float
    broken: float

    def as_json(self) -> dict[str, Any]:
        """The shares to four places."""
        shares = {"success@1": self.first, "success@5": self.five, "mrr": self.mrr, "broken": self.broken}
        return {"texts": self.texts, **{name: round(share, 4) for name, share in shares.items()}}


def score(answered: Sequence[Answered]) -> Score:
    """The score of some texts, at least one."""
    count = len(answered)
    filtered = [one for one in answered if one.judgment.keeps]
    return Score(
        count,
        sum(one.place == 1 for one in answered) / count,
        sum(1 <= one.place <= 5 for one in answered) / count,
        sum(1 / one.place for one in answered if one.place) / count,
        sum(one.is_broken for one in filtered) / len(filtered) if filtered else 0.0,
    )


def by_group(answered: Sequence[Answered]) -> dict[str, Score]:
    """The score of each group that has texts, then of all."""
    groups = {group: [one for one in answered if one.judgment.group == group] for group in GROUPS}
    return {**{group: score(held) for group, held in groups.items() if held}, OVERALL: score(answered)}


def misses(answered: Sequence[Answered]) -> list[dict[str, Any]]:
    """What was not answered by the right item first, or with a filter broken, for who wants to know why."""
    return [
        {
            "query": one.judgment.query,
            "group": one.judgment.group,
            "place": one.place,
            "broken": one.is_broken,
            "first": one.first,
        }
        for one in answered
        if one.place != 1 or one.is_broken
    ]


def show(scores: dict[str, dict[str, Score]]) -> None:
    """Prints a row for each group and peer."""
    table = Table("group", "texts", "peer", "success@1", "success@5", "MRR", "filter broken")
    groups = dict.fromkeys(group for found in scores.values() for group in found)
    for group in groups:
        for peer, found in scores.items():
            one = found[group]
            shares = (f"{share:.3f}" for share in (one.first, one.five, one.mrr, one.broken))
            table.add_row(group, str(one.texts), peer, *shares)
    Console(width=120).print(table)
