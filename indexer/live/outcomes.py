"""Counts what became of changes, in the report of whoever made them."""

from typing import Protocol

from indexer.documents.refusal import refused_by_engine
from indexer.documents.rejects import RejectsFile
from indexer.engine.bulk import Outcome
from indexer.live.change import ReadChange


class ChangeCounts(Protocol):
    """A report with a number for each outcome."""

    written: int
    deleted: int
    missing: int
    superseded: int
    rejected: int


def count_outcome(counts: ChangeCounts, read: ReadChange, outcome: Outcome, reason: str, rejects: RejectsFile) -> bool:
    """Counts one change, and writes it to the rejects file where the engine refused it; whether an item was written."""
    if outcome is Outcome.REFUSED:
        counts.rejected += 1
        rejects.write(read.source, read.line, read.change.id, refused_by_engine(reason))
    elif outcome is Outcome.SUPERSEDED:
        counts.superseded += 1
    elif outcome is Outcome.MISSING:
        counts.missing += 1
    elif read.change.document is None:
        counts.deleted += 1
    else:
        counts.written += 1
        return True
    return False
