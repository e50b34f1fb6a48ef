"""A dry run: a load's sources and the present index in, what the load would do and why it would be refused out.

Every item is validated as a load does it; nothing is written, to the engine or beside it.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from opensearchpy import OpenSearch

from indexer.cli.progress import LoadProgress
from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id
from indexer.documents.rejects import MAX_REASONS, OTHER_REASONS, RejectsFile, kind_of, reject_row
from indexer.engine.drift import field_differences
from indexer.engine.generations import Generations
from indexer.engine.retry import Patience
from indexer.loading.deduplicate import SeenIds
from indexer.loading.job import SHOW_EVERY, LoadJob
from indexer.sources.records import Record
from indexer.sources.source import Source
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
    refusals: list[str] = field(default_factory=list)
    complete: bool = False

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines; reasons from the most frequent on."""
        plain = {name: value for name, value in vars(self).items() if name != "complete"}
        plain |= {"reasons": dict(self.reasons.most_common()), "dryRun": True}
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
        if self.definition == "differs":
            parts = [f"{kind} {', '.join(names)}" for kind, names in self.changes.items() if names]
            shown.append(f"the definition differs: {'; '.join(parts) or 'in settings or analysis, in no field'}")
        shown.append("a load would be refused" if self.refusals else "a load would swap these items in")
        return shown


class DryRun:
    """One dry run of a job; `report` is true at every moment."""

    def __init__(self, job: LoadJob, client: OpenSearch, definition: Definition, report: DryRunReport) -> None:
        self._job = job
        self._client = client
        self._definition = definition
        self._report = report
        self._seen = SeenIds()
        self._rejects: RejectsFile | None = None
        self._shown = 0

    def run(self, progress: LoadProgress, show: Callable[[str], None]) -> None:
        """Reads everything; raises CommandError, SourceError or the client's error where a load would end by it.

        `show` gets the first ten rejects, one a line; a rejects file is written only where the job names one.
        """
        self._look_at_the_index()
        done = 0
        if self._job.rejects is not None:
            self._rejects = RejectsFile(self._job.rejects)
        with self._seen:
            for name in self._job.files:
                with Source(name, self._job.mapper, progress.say) as source:
                    for record in source.records():
                        self._take(source, record, show)
                        if self._report.read % SHOW_EVERY == 0:
                            progress.show(done + source.position, self._report.read)
                    done += source.position
        if self._rejects is not None:
            self._rejects.close()
        self._report.complete = True
        self._report.refusals += self._refusals()

    def _look_at_the_index(self) -> None:
        report = self._report
        generations = Generations(self._client, report.alias, self._definition, Patience(self._job.give_up_after))
        for state in generations.all():
            if state.serving:
                report.serving = state.index
                report.items = generations.count(state.index)
                report.definition = "equal" if state.fingerprint == self._definition.fingerprint else "differs"
        if report.definition == "differs":
            found = self._client.indices.get_mapping(index=report.serving)
            differing = field_differences(self._definition, found[report.serving]["mappings"])
            # seen from the index that serves: what only the definition has is what a load adds
            report.changes = {
                "added": list(differing.removed),
                "removed": list(differing.added),
                "changed": list(differing.changed),
            }

    def _take(self, source: Source, record: Record, show: Callable[[str], None]) -> None:
        line, content = record
        self._report.read += 1
        try:
            item = checked_item(content)
            index_document(item, self._job.platform)
        except ItemRefusedError as error:
            self._report.rejected += 1
            self._count(error.refusals[0])
            self._show(source.name, line, readable_id(content), source.with_source_names(error.refusals), show)
            return
        if not self._seen.add(item.id):
            self._report.duplicates += 1
            refusal = Refusal("id", str(item.id), "duplicate id, an earlier item has it")
            self._show(source.name, line, item.id, (refusal,), show)
            return
        self._report.accepted += 1

    def _count(self, refusal: Refusal) -> None:
        kind = kind_of(refusal)
        reasons = self._report.reasons
        reasons[kind if kind in reasons or len(reasons) < MAX_REASONS else OTHER_REASONS] += 1

    def _show(
        self, name: str, line: int, number: int | None, refusals: tuple[Refusal, ...], show: Callable[[str], None]
    ) -> None:
        if self._rejects is not None:
            self._rejects.write(name, line, number, refusals)
        self._shown += 1
        if self._shown <= SHOWN_REJECTS:
            row = reject_row(name, line, number, refusals)
            parts = [f"id {row['id']}" if row["id"] is not None else "", row["field"] or "", row["value"] or ""]
            show(f"{name}, line {line}: {' | '.join([*filter(None, parts), row['reason']])}")

    def _refusals(self) -> list[str]:
        report, job = self._report, self._job
        found = []
        if report.rejected * 100 > job.max_rejects * report.read:
            found.append(
                f"{report.rejected:,} of {report.read:,} items are rejected, more than {job.max_rejects:g} % "
                "(--max-rejects)"
            )
        if report.accepted == 0 and not job.allow_empty:
            found.append("the source has no items, so the old ones would stay (--allow-empty)")
        serving = report.items or 0
        if report.accepted and report.accepted * 100 < job.min_share * serving:
            found.append(
                f"the new index would have {report.accepted:,} items where {serving:,} serve, less than "
                f"{job.min_share:g} % (--min-share)"
            )
        return found
