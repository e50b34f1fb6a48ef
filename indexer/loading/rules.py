"""The rules before a swap, for loads and dry runs alike. A new rule goes here. Pure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from indexer.loading.job import LoadJob

MIN_COMPARED: Final = 10  # items


@dataclass(frozen=True)
class PriceChanges:
    """Of so many items that serve and are to serve, how many have a price of less than half or more than double."""

    compared: int = 0
    changed: int = 0

    def broken_rule(self, max_percent: float) -> str | None:
        """Why the items must not be swapped in; too few are no sign of anything."""
        if self.compared < MIN_COMPARED or self.changed * 100 <= max_percent * self.compared:
            return None
        return (
            f"{self.sentence()}, more than {max_percent:g} % (--max-price-change): are the prices in the right "
            "unit and currency? --max-price-change 100 swaps them in"
        )

    def sentence(self) -> str:
        return (
            f"{self.changed:,} of {self.compared:,} compared items would cost less than half or more than double, or "
            "have a price only now or only then"
        )


def broken_rules(
    job: "LoadJob", *, read: int, accepted: int, rejected: int, serving: int, rejects: str | None, prices: PriceChanges
) -> list[str]:
    """Why an index with these items must not be swapped in, in the place of so many that serve; empty where it may.

    `rejects` is the file that says why items were refused.
    """
    sentences = []
    if rejected * 100 > job.max_rejects * read:
        reasons = "" if rejects is None else f"; {rejects} says why"
        sentences.append(
            f"{rejected:,} of {read:,} items were refused, more than {job.max_rejects:g} % (--max-rejects){reasons}"
        )
    if accepted == 0 and not job.allow_empty:
        sentences.append("the source has no items, so the old ones stay; --allow-empty swaps in an empty index")
    if accepted and accepted * 100 < job.min_share * serving:
        sentences.append(
            f"the new index would have {accepted:,} items where {serving:,} serve, less than "
            f"{job.min_share:g} % (--min-share): is the source complete? --min-share 0 swaps it in"
        )
    if (sentence := prices.broken_rule(job.max_price_change)) is not None:
        sentences.append(sentence)
    return sentences
