"""Filling: a job's sources in; every item in the new index, or in the rejects file with its reason, and counted out."""

from contextlib import ExitStack
from pathlib import Path

from opensearchpy import OpenSearch

from indexer.cli.progress import LoadProgress
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id
from indexer.documents.rejects import RejectsFile
from indexer.engine.bulk import BulkWriter, Entry, index_lines
from indexer.engine.failures import CommandError
from indexer.engine.generations import loading_alias
from indexer.engine.retry import Patience
from indexer.loading.checkpoint import Checkpoints, CheckpointWriter
from indexer.loading.committed_offset import LowWater, Mark
from indexer.loading.deduplicate import SeenIds
from indexer.loading.early_refresh import EarlyRefresh
from indexer.loading.job import SHOW_EVERY, LoadJob
from indexer.loading.manifest import Expected
from indexer.loading.report import LoadReport
from indexer.loading.resume import AGAIN, Begun
from indexer.locking.lock import Lock
from indexer.sources.records import Record
from indexer.sources.source import Source


class Filling:
    """Fills one index; `report` is true at every moment, also after a failure."""

    def __init__(
        self, job: LoadJob, client: OpenSearch, lock: Lock, report: LoadReport, expected: Expected, begun: Begun
    ) -> None:
        self._begun = begun
        self._from = begun.checkpoint.mark
        self._job = job
        self._client = client
        self._lock = lock
        self._report = report
        self._expected = expected
        self._seen = SeenIds()
        self.trusted = not self._from.read  # whether what was acknowledged before is what is read again

    def run(self, checkpoints: Checkpoints, progress: LoadProgress) -> None:
        """Reads all sources and has every item acknowledged; raises what stopped that."""
        begun = self._begun
        rejects_path = self._job.rejects or Path(f"{begun.index}.rejects.ndjson")
        with ExitStack() as stack:
            rejects = stack.enter_context(RejectsFile(rejects_path))
            stack.enter_context(self._seen)

            def refused(source: str, entry: Entry, reason: str) -> None:
                self._expected.refuse(entry.id, entry.digest)
                rejects.write(source, entry.line, entry.id, (Refusal(None, None, f"the engine: {reason}"),))

            told = stack.enter_context(CheckpointWriter(checkpoints, begun.checkpoint, self._patience()))
            writer = BulkWriter(
                self._client,
                loading_alias(begun.index),
                refused=refused,
                patience=self._patience(),  # its own: it ends when the writer is stopped
                low_water=LowWater(self._mark, told.tell, self._from.superseded),
                senders=self._job.senders,
            )
            try:
                self._read_all(writer, rejects, progress)
                writer.finish()
            finally:
                writer.stop()
                self._report.indexed = self._report.resumed + writer.acknowledged
                self._report.superseded = self._from.superseded + writer.superseded
                self._report.retries = writer.retries
                self._report.bytes = writer.bytes
                self._report.pace = writer.pace.as_json()
                self._report.reasons = rejects.reasons()
                self._report.rejected += writer.refused
                self._report.rejects = None if rejects.path is None else str(rejects.path)
            rejects.close()

    def _patience(self) -> Patience:
        patience = Patience(self._job.give_up_after)
        self._lock.stops(patience.stopped)
        return patience

    def _mark(self) -> Mark:
        return Mark(self._report.read, self._expected.accepted())

    def _read_all(self, writer: BulkWriter, rejects: RejectsFile, progress: LoadProgress) -> None:
        done = 0
        early = EarlyRefresh(self._client, self._begun.index, self._job.size)
        for name in self._job.files:
            with Source(name, self._job.mapper, progress.say) as source:
                writer.begin(source.name)
                for record in source.records():
                    self._take(source, record, writer, rejects)
                    if self._report.read == self._from.read:
                        self._compare()
                    if self._report.read % SHOW_EVERY == 0:
                        self._lock.check()
                        progress.show(done + source.position, self._report.read)
                        early.passed(done + source.position, writer.bytes)
                done += source.position
        if not self.trusted:
            self._compare()

    def _compare(self) -> None:
        """Whether what was read up to here is what the load that died had acknowledged; raises CommandError."""
        if self._mark() != self._from._replace(superseded=0):
            message = (
                f"the sources are not those of the load that died: {self._report.read:,} records have "
                f"{self._expected.accepted().items:,} items, and not the same as its {self._from.accepted.items:,} in "
                f"{self._from.read:,}; name the same ones ({', '.join(self._begun.checkpoint.sources)}) and --map, or "
                f"{AGAIN}"
            )
            raise CommandError(message)
        self.trusted = True

    def _take(self, source: Source, record: Record, writer: BulkWriter, rejects: RejectsFile) -> None:
        line, content = record
        self._report.read += 1
        try:
            item = checked_item(content)
            document = index_document(item, self._job.platform)
        except ItemRefusedError as error:
            self._report.rejected += 1
            rejects.write(source.name, line, readable_id(content), source.with_source_names(error.refusals))
            return
        if not self._seen.add(item.id):
            self._report.duplicates += 1
            rejects.write(
                source.name, line, item.id, (Refusal("id", str(item.id), "duplicate id, an earlier item has it"),)
            )
            return
        version = self._begun.version
        pieces, digest = encode_document(document, version)
        self._expected.add(item.id, digest)
        if self._report.read <= self._from.read:
            self._report.resumed += 1
            return
        writer.write(Entry(line, item.id, index_lines(item.id, version, *pieces), digest))
