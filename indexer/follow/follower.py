"""Follows a stream: reads a batch, writes it, commits its position, and so on until it is stopped."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from indexer.documents.refusal import ItemRefusedError
from indexer.documents.rejects import RejectsFile
from indexer.follow.stream import Message, Stream
from indexer.live.change import Batch, ReadChange
from indexer.live.outcomes import count_outcome
from indexer.live.writer import LiveWriter

BATCH_MESSAGES = 5_000
BATCH_SECONDS = 0.2  # that a message waits for others


@dataclass
class FollowReport:
    """What became of the messages; read = written + deleted + missing + superseded + rejected."""

    platform: int
    alias: str
    source: str
    read: int = 0
    written: int = 0
    deleted: int = 0
    missing: int = 0
    superseded: int = 0
    rejected: int = 0
    line: int = 0  # or offset: that of the last message that is acknowledged
    rejects: str | None = None
    reasons: dict[str, int] = field(default_factory=dict)  # of what is in the rejects file, by field and rule
    lag: int | None = None  # messages that are not read yet
    age: float = 0.0  # seconds from the oldest change of the last batch to its acknowledgement
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Every number, for machines."""
        return asdict(self)

    def counts(self) -> dict[str, int]:
        """The messages by what became of them."""
        return {name: getattr(self, name) for name in ("written", "deleted", "missing", "superseded", "rejected")}


class Follower:
    """One stream and the writer of its changes."""

    def __init__(
        self,
        stream: Stream,
        writer: LiveWriter,
        rejects: RejectsFile,
        report: FollowReport,
        on_batch: Callable[[FollowReport, int], None],  # with the messages of the batch, maybe none
    ) -> None:
        self._stream = stream
        self._writer = writer
        self._rejects = rejects
        self._report = report
        self._on_batch = on_batch
        self.stopped = threading.Event()

    def run(self) -> None:
        """Follows until the stream ends or `stopped` is set; what was read by then is written and committed.

        Raises CommandError or the client's error where a batch could not be written: its position is not committed.
        """
        self._writer.check()
        while not self.stopped.is_set() and not self._stream.ended:
            self._follow(self._stream.read(BATCH_MESSAGES, BATCH_SECONDS))
        while messages := self._stream.drain(BATCH_MESSAGES):
            self._follow(messages)

    def _follow(self, messages: Sequence[Message]) -> None:
        report = self._report
        if messages:
            self._write(messages)
            self._rejects.flush()
            self._stream.commit()
            report.line = messages[-1].line
        report.lag = self._stream.lag()
        report.reasons = self._rejects.reasons()
        report.rejects = None if self._rejects.path is None else str(self._rejects.path)
        self._on_batch(report, len(messages))

    def _write(self, messages: Sequence[Message]) -> None:
        report, batch = self._report, Batch()
        report.read += len(messages)
        for message in messages:
            if isinstance(message.change, ItemRefusedError):
                report.rejected += 1
                self._rejects.write(message.source, message.line, message.id, message.change.refusals)
            else:
                batch.add(ReadChange(message.source, message.line, message.change))
        report.superseded += batch.superseded
        if not batch.reads:
            return
        changes = batch.changes()
        written = self._writer.write(changes)
        for number, (outcome, reason) in written.results.items():
            count_outcome(report, batch.reads[number], outcome, reason, self._rejects)
        oldest = min(change.version if change.is_dated else written.version for change in changes)
        report.age = max(0.0, time.time() - oldest / 10**6)
