"""What became of live changes: the counts that every report of them has."""

from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.documents.refusal import refused_by_engine
from indexer.documents.rejects import RejectsFile
from indexer.engine.bulk import Outcome
from indexer.live.change import Batch, ReadChange, RefusedChange
from indexer.live.writer import LiveWriter, Written


@dataclass
class ChangeCounts:
    """read = written + deleted + missing + superseded + rejected, as the serving index says.

    `missing` are deletes of what was not there, `superseded` changes older than what is there, or followed by one of
    the same item in the same request. `error` is None when everything that was asked for is done.
    """

    platform: int
    alias: str
    read: int = 0
    written: int = 0
    deleted: int = 0
    missing: int = 0
    superseded: int = 0
    rejected: int = 0
    rejects: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)  # of what is in the rejects file, by field and rule
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def counts(self) -> dict[str, int]:
        """The changes by what became of them."""
        return {name: getattr(self, name) for name in ("written", "deleted", "missing", "superseded", "rejected")}

    def sentence(self) -> str:
        """`10 read: 9 written, 0 deleted, 0 missing, 0 superseded, 1 rejected`."""
        return f"{self.read:,} read: {', '.join(f'{count:,} {name}' for name, count in self.counts().items())}"

    def refusals(self) -> str | None:
        """What is wrong where changes were refused."""
        if not self.rejected:
            return None
        return f"{self.rejected:,} of {self.read:,} changes were refused, {self.rejects} says why"

    def note_rejects(self, rejects: RejectsFile) -> None:
        """Takes over where the refused changes are, and why they were refused."""
        self.rejects = rejects.path
        self.reasons = rejects.reasons()

    def take(self, read: ReadChange | RefusedChange, batch: Batch, rejects: RejectsFile) -> None:
        """Counts what was read, which goes into the batch or the rejects file."""
        self.read += 1
        if isinstance(read, ReadChange):
            batch.add(read)
        else:
            self.rejected += 1
            rejects.write(*read)

    def write(self, batch: Batch, writer: LiveWriter, rejects: RejectsFile) -> Written:
        """Writes a batch and counts what became of it, refused changes as `take`; raises as the writer does."""
        written = writer.write(batch.changes())
        self.superseded += batch.superseded
        for number, (outcome, reason) in written.results.items():
            read = batch.reads[number]
            if outcome is Outcome.REFUSED:
                self.rejected += 1
                rejects.write(read.source, read.line, number, refused_by_engine(reason))
            elif outcome is Outcome.SUPERSEDED:
                self.superseded += 1
            elif outcome is Outcome.MISSING:
                self.missing += 1
            elif read.change.document is None:
                self.deleted += 1
            else:
                self.written += 1
        return written
