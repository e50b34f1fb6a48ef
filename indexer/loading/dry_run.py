"""A dry run: reads the sources as a load does, says what a load would do, and writes nothing to the engine."""

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

from opensearchpy import OpenSearch

from indexer.documents.refusal import Refusal
from indexer.documents.rejects import RejectsFile, count_reason, reject_row
from indexer.engine.generations import Generations
from indexer.engine.retry import RetryPolicy
from indexer.loading.items import DUPLICATE, ItemReader
from indexer.loading.job import LoadJob, Progress
from indexer.loading.prices import compare_prices
from indexer.loading.rules import PriceChanges, broken_rules
from mappings.definition import Definition

SHOWN_REJECTS = 10


@dataclass
class DryRunReport:
    """What a load would do; `refusals` are the reasons for which it would swap nothing in."""

    platform: int
    alias: str
    serving: str | None = None
    items: int | None = None  # that serve now
    read: int = 0
    accepted: int = 0
    rejected: int = 0
    duplicates: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    definition: str = "missing"  # or equal, differs
    changes: dict[str, Any] = field(default_factory=dict)
    prices: PriceChanges = field(default_factory=PriceChanges)  # of a sample, against what serves
    refusals: list[str] = field(default_factory=list)
    complete: bool = False

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines; reasons from the most frequent on."""
        plain = {name: value for name, value in vars(self).items() if name != "complete"}
        plain |= {"prices": asdict(self.prices), "reasons": dict(self.reasons.most_common()), "dryRun": True}
        return {**plain, "wouldSwap": self.complete and not self.refusals}

    def sentences(self) -> list[str]:
        """The same for people."""
        now = "nothing serves now" if self.items is None else f"{self.items:,} serve now in {self.serving}"
        shown = [
            f"{self.read:,} read, {self.accepted:,} accepted, {self.rejected:,} rejected, "
            f"{self.duplicates:,} duplicates; {now}"
        ]
        shown += [f"  {count:,} rejected: {kind}" for kind, count in self.reasons.most_common()]
        if self.items is not None:
            shown.append(f"items: {self.items:,} now, {self.accepted:,} then ({self.accepted - self.items:+,})")
        if self.prices.compared:
            shown.append(f"prices: {self.prices.sentence()}")
        if self.definition == "differs":
            parts = [f"{kind} {', '.join(names)}" for kind, names in self.changes.items() if names]
            shown.append(f"the definition differs: {'; '.join(parts) or 'in settings or analysis, in no field'}")
        shown.append("a load would be refused" if self.refusals else "a load would swap these items in")
        return shown


def dry_run(
    job: LoadJob,
    client: OpenSearch,
    definition: Definition,
    report: DryRunReport,
    show: Callable[[str], None],
    progress: Progress,
) -> None:
    """Reads everything; `show` gets the first ten rejects, and `report` is true at every moment, also after a failure.

    Raises CommandError, SourceError or the client's error where a load would end by it.
    """
    retry = RetryPolicy(job.retry_timeout)
    _compare_definition(client, definition, report, retry)
    shown = 0

    def refuse(source: str, line: int, number: int | None, refusals: tuple[Refusal, ...]) -> None:
        nonlocal shown
        if rejects is not None:
            rejects.write(source, line, number, refusals)
        if refusals[0].reason != DUPLICATE:
            count_reason(report.reasons, refusals[0])
        shown += 1
        if shown <= SHOWN_REJECTS:
            row = reject_row(source, line, number, refusals)
            parts = [f"id {row['id']}" if row["id"] is not None else "", row["field"] or "", row["value"] or ""]
            show(f"{source}, line {line}: {' | '.join([*filter(None, parts), row['reason']])}")

    reader = ItemReader(job, progress, refuse)
    with nullcontext() if job.rejects is None else RejectsFile(job.rejects) as rejects:
        try:
            for _ in reader.items():
                pass
        finally:
            report.read, report.accepted = reader.read, reader.accepted
            report.rejected, report.duplicates = reader.rejected, reader.duplicates
    if report.serving and report.items:
        report.prices = compare_prices(client, report.serving, reader.sample.prices, retry)
    report.complete = True
    report.refusals += broken_rules(
        job,
        read=report.read,
        accepted=report.accepted,
        rejected=report.rejected,
        serving=report.items or 0,
        rejects=None if rejects is None else rejects.path,
        prices=report.prices,
    )


def _compare_definition(client: OpenSearch, definition: Definition, report: DryRunReport, retry: RetryPolicy) -> None:
    """Reports what serves now, and how its definition differs from this version's."""
    generations = Generations(client, report.alias, definition, retry)
    for state in generations.all():
        if state.serving:
            report.serving = state.index
            report.items = generations.count(state.index)
            report.definition = "equal" if state.fingerprint == definition.fingerprint else "differs"
    if report.serving and report.definition == "differs":
        # seen from the index that serves: what only the definition has is what a load adds
        report.changes = generations.differences(report.serving).of_a_load()
