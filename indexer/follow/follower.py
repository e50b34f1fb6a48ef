"""Follows a stream: reads a batch, writes it, commits its position, and so on until it is stopped."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from indexer.documents.rejects import RejectsFile
from indexer.follow.stream import Message, Stream
from indexer.live.change import Batch
from indexer.live.outcomes import ChangeCounts
from indexer.live.writer import LiveWriter

BATCH_MESSAGES = 5_000
BATCH_SECONDS = 0.2  # that a message waits for others


@dataclass
class FollowReport(ChangeCounts):
    """What became of the messages of a stream."""

    source: str = ""
    line: int = 0  # or offset: that of the last message that is acknowledged
    lag: int = 0  # messages that are not read yet
    age: float = 0.0  # seconds from the oldest change of the last batch to its acknowledgement


@dataclass
class Follower:
    """One stream and the writer of its changes."""

    stream: Stream
    writer: LiveWriter
    rejects: RejectsFile
    report: FollowReport
    on_batch: Callable[[FollowReport, int], None]  # with the messages of the batch, maybe none
    stopped: threading.Event = field(default_factory=threading.Event, init=False)

    def run(self) -> None:
        """Follows until the stream ends or `stopped` is set; what was read by then is written and committed.

        Raises CommandError or the client's error where a batch could not be written: its position is not committed.
        """
        while not self.stopped.is_set() and not self.stream.ended:
            self._follow(self.stream.read(BATCH_MESSAGES, BATCH_SECONDS))
        while messages := self.stream.drain(BATCH_MESSAGES):
            self._follow(messages)

    def _follow(self, messages: Sequence[Message]) -> None:
        report = self.report
        if messages:
            self._write(messages)
            self.rejects.flush()
            self.stream.commit()
            report.line = messages[-1].line
        report.lag = self.stream.lag()
        report.note_rejects(self.rejects)
        self.on_batch(report, len(messages))

    def _write(self, messages: Sequence[Message]) -> None:
        report, batch = self.report, Batch()
        for message in messages:
            report.take(message, batch, self.rejects)
        if not batch:
            return
        written = report.write(batch, self.writer, self.rejects)
        oldest = min(change.version if change.is_dated else written.version for change in batch.changes())
        report.age = max(0.0, time.time() - oldest / 10**6)
