"""Scores of judged answers: success@1, success@5, MRR and broken filters, by group and peer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from bench.relevance.judged import GROUPS, OWN_WORDS_GROUPS, Verdict

OVERALL = "overall"


@dataclass(frozen=True)
class Score:
    """Shares of the texts whose right item came first or among five, the mean of 1 / place, and broken filters.

    `broken` is the share among the texts that mean a filter, `violated` without those that show an empty page.
    """

    texts: int
    first: float
    five: float
    mrr: float
    broken: float
    violated: float

    def as_json(self) -> dict[str, Any]:
        """The shares to four places."""
        shares = {"success@1": self.first, "success@5": self.five, "mrr": self.mrr}
        shares |= {"broken": self.broken, "violated": self.violated}
        return {"texts": self.texts, **{name: round(share, 4) for name, share in shares.items()}}


def score(verdicts: Sequence[Verdict]) -> Score:
    """The score of some texts, at least one."""
    count = len(verdicts)
    filtered = [verdict for verdict in verdicts if verdict.judgment.is_strict]
    return Score(
        count,
        sum(verdict.place == 1 for verdict in verdicts) / count,
        sum(1 <= verdict.place <= 5 for verdict in verdicts) / count,
        sum(1 / verdict.place for verdict in verdicts if verdict.place) / count,
        sum(verdict.is_broken for verdict in filtered) / len(filtered) if filtered else 0.0,
        sum(verdict.is_violated for verdict in filtered) / len(filtered) if filtered else 0.0,
    )


def by_group(verdicts: Sequence[Verdict]) -> dict[str, Score]:
    """The score of each group that has texts, then of all."""
    groups = {
        group: [verdict for verdict in verdicts if verdict.judgment.group == group]
        for group in (*GROUPS, *OWN_WORDS_GROUPS)
    }
    return {**{group: score(members) for group, members in groups.items() if members}, OVERALL: score(verdicts)}


def misses(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The texts that were not answered by the right item first, or with a filter broken."""
    return [
        {
            "query": verdict.judgment.query,
            "group": verdict.judgment.group,
            "place": verdict.place,
            "broken": verdict.is_broken,
            "first": verdict.first,
        }
        for verdict in verdicts
        if verdict.place != 1 or verdict.is_broken
    ]


def as_json(peer: str, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """A peer's scores by group, and its misses."""
    scores = {group: group_score.as_json() for group, group_score in by_group(verdicts).items()}
    return {"peer": peer, "scores": scores, "misses": misses(verdicts)}


def table(verdicts: Mapping[str, Sequence[Verdict]]) -> Table:
    """A row for each group and peer."""
    rows = Table("group", "texts", "peer", "success@1", "success@5", "MRR", "filter broken", "violated")
    scores = {peer: by_group(responses) for peer, responses in verdicts.items()}
    for group in dict.fromkeys(group for groups in scores.values() for group in groups):
        for peer, groups in scores.items():
            each = groups[group]
            shares = (each.first, each.five, each.mrr, each.broken, each.violated)
            rows.add_row(group, str(each.texts), peer, *(f"{share:.3f}" for share in shares))
    return rows
