"""The rules before a swap, for loads and dry runs alike. A new rule goes here. Pure."""

from dataclasses import dataclass
from typing import Protocol


class Limits(Protocol):
    """How much trouble a job tolerates."""

    @property
    def max_rejects(self) -> float:
        """Percent of what was read."""

    @property
    def min_share(self) -> float:
        """Percent of the items that serve now."""

    @property
    def allow_empty(self) -> bool:
        """Whether an index without items may serve."""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What became of a source's items."""

    read: int
    accepted: int
    rejected: int
    serving: int  # items that serve now
    rejects: str | None  # the file that says why


def broken_rules(limits: Limits, counts: Counts) -> list[str]:
    """Why an index with these items must not be swapped in; empty where it may."""
    sentences = []
    if counts.rejected * 100 > limits.max_rejects * counts.read:
        reasons = "" if counts.rejects is None else f"; {counts.rejects} says why"
        sentences.append(
            f"{counts.rejected:,} of {counts.read:,} items were refused, more than {limits.max_rejects:g} % "
            f"(--max-rejects){reasons}"
        )
    if counts.accepted == 0 and not limits.allow_empty:
        sentences.append("the source has no items, so the old ones stay; --allow-empty swaps in an empty index")
    if counts.accepted and counts.accepted * 100 < limits.min_share * counts.serving:
        sentences.append(
            f"the new index would have {counts.accepted:,} items where {counts.serving:,} serve, less than "
            f"{limits.min_share:g} % (--min-share): is the source complete? --min-share 0 swaps it in"
        )
    return sentences
