"""Runs a load: read, build documents, send, check, prove, swap.

If anything fails before the swap, the alias stays and the new index is removed. After a crash, or while the engine is
unreachable, the index remains: the next load removes it, or continues it with `resume`.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.documents.digest import encode_document
from indexer.documents.refusal import refused_by_engine
from indexer.documents.rejects import RejectsFile
from indexer.engine.bulk import BulkItem, BulkSender, BulkWriter, Outcome, index_lines
from indexer.engine.generations import Generations, SwapUnknownError
from indexer.engine.progress_records import ProgressPublisher
from indexer.engine.retry import RetriesExhaustedError, RetryPolicy, StoppedError
from indexer.engine.states import loading_alias
from indexer.engine.throttle import Throttle
from indexer.engine.tombstones import Tombstones
from indexer.errors import CommandError
from indexer.loading.cleanup import remove_interrupted, remove_old
from indexer.loading.items import SHOW_EVERY, ItemReader
from indexer.loading.job import LoadJob, Progress
from indexer.loading.manifest import Manifest
from indexer.loading.prices import Prices, compare_prices
from indexer.loading.proof import prove
from indexer.loading.report import LoadReport
from indexer.loading.resume import (
    LOAD_AGAIN,
    Checkpoint,
    Checkpoints,
    CheckpointWriter,
    CommittedOffset,
    LoadTarget,
    Offset,
    interrupted_load,
)
from indexer.loading.rules import broken_rules
from indexer.loading.warm import warm
from indexer.locking.lock import Lock
from indexer.orders.claims import BoundItems, Claims, bind_claimed, reenqueue_after_swap
from indexer.products.writer import ProductWriter
from mappings.definition import Definition
from mappings.engine_errors import cause
from mappings.names import generation_name, parse_generation

# For the calls that must not be left half-done: the swap, and removing what a failed load has filled.
SHORT_RETRY_SECONDS = 30.0
MAX_PROOF_RETRIES = 3  # proof attempts after live changes that are older than the load, and came late, are removed
COPIES_SECONDS = 60.0  # for the copies of the new index; a swap before they are there is safe, only slower at first


@dataclass
class Load:
    """One run of a job; `report` is true at every moment, also after a failure, and only this class writes it."""

    job: LoadJob
    client: OpenSearch
    definition: Definition
    claims: Claims | None
    report: LoadReport
    progress: Progress

    def __post_init__(self) -> None:
        self._retry = RetryPolicy(self.job.retry_timeout)
        self._short_retry = RetryPolicy(min(self.job.retry_timeout, SHORT_RETRY_SECONDS))
        self._generations = Generations(self.client, self.report.alias, self.definition, self._retry)
        self._tombstones = Tombstones(self.client, self.report.alias, self._retry)
        self._lock = Lock(
            self.client, self.report.alias, "load", self._short_retry, self.progress.say, expiry=self.job.lock_expiry
        )
        self._keep_unfinished = False  # what is filled is not removed when the load fails
        self._prices: Prices = {}  # of a sample of the accepted items

    def run(self, uninterrupted: Callable[[], AbstractContextManager[None]]) -> None:
        """Loads, checks and swaps; raises CommandError, SourceError or the client's error where it could not.

        The swap runs within `uninterrupted()`.
        """
        # What would stop the swap in the end is found before any work is done.
        self._generations.all()
        if self.claims is not None:
            self.claims.check(self.client, self.report.alias)
            self.claims.all()
        with self._lock:
            self._lock.stops(self._retry.stopped)
            publisher = ProgressPublisher(self.client, self.report.alias, "load", ", ".join(self.job.shown_files))
            try:
                self._run_locked(uninterrupted)
            except StoppedError:
                self._lock.check()  # says why
                raise
            finally:
                report = self.report
                publisher.write(read=report.read, rejected=report.rejected, reasons=report.reasons, ended=True)

    def _run_locked(self, uninterrupted: Callable[[], AbstractContextManager[None]]) -> None:
        started = datetime.now(UTC)
        resumed = self._resume() if self.job.resume else None
        name = generation_name(self.report.alias, started, self.definition.fingerprint)
        index = name if resumed is None else resumed.index
        self._check_age(index, self._generations)
        self.report.removed += remove_interrupted(self._generations, self._lock, self.progress.say, keep=index)
        self.report.index = index
        self._keep_unfinished = resumed is not None
        try:
            with Manifest() as manifest:
                with self.report.phase("fill"):
                    target = resumed or self._create(index)
                    self._fill(target, manifest)
                self.progress.say(f"{self.report.counts()}; checking {index}")
                self._check()
                self._prepare(target)
                with self.report.phase("proof"):
                    self._prove(target, manifest)
            with self.report.phase("swap"):
                bound = self._bind_claimed(index)  # once more: warm-up and proof take minutes
                with uninterrupted(), reenqueue_after_swap(self.claims, bound.since, bound.items):
                    self._swap(index)
        finally:
            if not self._keep_unfinished and not self.report.swapped:
                self._remove_unfinished(index)
        self._prune(index)

    def _check_age(self, index: str, generations: Generations) -> None:
        """Raises CommandError where a generation serves whose load began later."""
        mine = parse_generation(self.report.alias, index)
        for state in generations.all():
            if state.serving and mine is not None and state.generation > mine:
                sentence = "serves, begun later: this older load is dropped (or is the clock here behind?)"
                raise CommandError(f"{state.index} {sentence}")

    # The index to fill

    def _create(self, index: str) -> LoadTarget:
        """Makes the index, then takes the time: whoever changes an item later than that finds the index."""
        self._retry.call(lambda: self._lock.renew(index))
        self._tombstones.create()
        self._generations.create(index, self._lock.owner.id)
        version = time.time_ns() // 1000
        self._generations.begin(index, version, self._lock.owner.id)
        checkpoint = Checkpoint(owner=self._lock.owner.id, sources=self.job.shown_files, size=self.job.size)
        return LoadTarget(index, version, checkpoint)

    def _resume(self) -> LoadTarget:
        """Takes an interrupted load over, from now on under this lock."""
        target = interrupted_load(self.job, self.client, self._generations, self.definition, self._lock)
        self._retry.call(lambda: self._lock.renew(target.index))
        self._generations.begin(target.index, target.version, self._lock.owner.id)
        self.progress.say(f"resuming {target.index}, of which {target.checkpoint.read:,} records are acknowledged")
        return target

    # Read, document, bulk

    def _fill(self, target: LoadTarget, manifest: Manifest) -> None:
        """Has every item acknowledged; where the engine stayed away, what is in the index is kept for a --resume."""
        self.report.version = target.version
        checkpoints = Checkpoints(self.client, self.report.alias, target.index)
        self._retry.call(checkpoints.read)
        self._retry.call(lambda: checkpoints.write(target.checkpoint))
        # A resumed index is removed only once it is known that it was filled from these sources.
        self._keep_unfinished = bool(target.checkpoint.read)
        try:
            with (
                RejectsFile(self.job.rejects or Path(f"{target.index}.rejects.ndjson")) as rejects,
                CheckpointWriter(checkpoints, target.checkpoint, self._retry) as commits,
            ):
                self._write_items(target, manifest, rejects, commits)
        except RetriesExhaustedError as error:
            if "-" in self.job.files:  # which cannot be read again
                raise
            self._keep_unfinished = True
            message = f"{error}; what is acknowledged stays: the same command with --resume goes on with it"
            raise CommandError(message) from error

    def _write_items(
        self, target: LoadTarget, manifest: Manifest, rejects: RejectsFile, commits: CheckpointWriter
    ) -> None:
        start = target.checkpoint.offset

        def current() -> Offset:
            return Offset(reader.read, manifest.accepted())

        def on_refused(entry: BulkItem, reason: str) -> None:
            manifest.refuse(entry.id)
            rejects.write(entry.source, entry.line, entry.id, refused_by_engine(reason))

        reader = ItemReader(self.job, self.progress, rejects.write)
        retry = RetryPolicy(self.job.retry_timeout)  # the writer's own: it ends when the writer is stopped
        self._lock.stops(retry.stopped)
        alias = loading_alias(target.index)
        committed = CommittedOffset(current, commits.commit, start.superseded)
        sender = BulkSender(self.client, retry, Throttle(self.job.concurrency, self.job.max_bytes_in_flight))
        writer = BulkWriter(
            sender=sender,
            alias=alias,
            on_refused=on_refused,
            on_sent=committed.sent,
            on_acknowledged=committed.acknowledged,
            chunk_items=self.job.chunk_items,
        )
        products = ProductWriter(self.client, target.index, alias, sender, self._retry)
        try:
            for item in reader.items():
                if item is not None:
                    products.add(item.document)
                    pieces, digest = encode_document(item.document, target.version, self.job.digest_key)
                    manifest.add(item.id, digest)
                    if reader.read <= start.read:
                        self.report.resumed += 1
                    else:
                        lines = index_lines(item.id, target.version, *pieces)
                        writer.write(BulkItem(item.source, item.line, item.id, lines))
                if reader.read == start.read:
                    self._verify_sources(current(), target.checkpoint)
                if reader.read % SHOW_EVERY == 0:
                    self._lock.check()
            if reader.read < start.read:
                self._verify_sources(current(), target.checkpoint)
            products.flush()
            writer.finish()
        finally:
            writer.stop()
            self._count(reader, writer, rejects, start)

    def _count(self, reader: ItemReader, writer: BulkWriter, rejects: RejectsFile, start: Offset) -> None:
        report = self.report
        self._prices = reader.sample.prices
        report.read, report.duplicates = reader.read, reader.duplicates
        superseded = writer.counts[Outcome.SUPERSEDED]
        report.rejected = reader.rejected + writer.counts[Outcome.REFUSED]
        report.indexed = report.resumed + writer.counts[Outcome.DONE] + superseded
        report.superseded = start.superseded + superseded
        report.bytes, report.retries = writer.sender.bytes, writer.sender.retries
        report.throttle = writer.sender.throttle.as_json()
        report.reasons = rejects.reasons()
        report.rejects = rejects.path

    def _verify_sources(self, offset: Offset, checkpoint: Checkpoint) -> None:
        """Raises CommandError where what was read up to the checkpoint is not what the interrupted load read."""
        start = checkpoint.offset
        if offset != start._replace(superseded=0):
            raise CommandError(
                f"the sources are not those of the interrupted load: {offset.read:,} records have "
                f"{offset.accepted.items:,} items, and not the same as its {start.accepted.items:,} in "
                f"{start.read:,}; name the same ones ({', '.join(checkpoint.sources)}) and --map, or {LOAD_AGAIN}"
            )
        self._keep_unfinished = False

    # Check, prepare, prove

    def _check(self) -> None:
        """Raises CommandError where the rules forbid a swap."""
        report = self.report
        if report.read != report.indexed + report.rejected + report.duplicates:
            raise CommandError(f"the numbers do not add up, nothing is swapped in: {report.counts()}")
        serving = self._generations.serving()
        items = sum(self._generations.count(index) for index in serving)
        if items:
            report.prices = compare_prices(self.client, serving[-1], self._prices, self._retry)
        sentences = broken_rules(
            self.job,
            read=report.read,
            accepted=report.indexed,
            rejected=report.rejected,
            serving=items,
            rejects=report.rejects,
            prices=report.prices,
        )
        if sentences:
            raise CommandError("; ".join(sentences))

    def _prepare(self, target: LoadTarget) -> None:
        """Makes a filled index fit for service."""
        report = self.report
        with report.phase("deletes"):
            self._tombstones.apply(target.index, target.version)
        with report.phase("settings"):
            report.copies = self._generations.prepare(target.index, min(self.job.retry_timeout, COPIES_SECONDS))
        with report.phase("claims"):
            self._bind_claimed(target.index)
        with report.phase("warm-up"):
            warm(self.client, target.index, self._retry)

    def _bind_claimed(self, index: str) -> BoundItems:
        bound = bind_claimed(self.client, index, self.claims, self._retry)
        self.report.bound = bound.number
        return bound

    def _prove(self, target: LoadTarget, manifest: Manifest) -> None:
        platform, index, version = self.job.platform.id, target.index, target.version
        for attempt in range(MAX_PROOF_RETRIES + 1):
            if attempt:
                self._tombstones.apply(index, version)
            proof = prove(self.client, platform, index, self._tombstones.alias, version, manifest, self._retry)
            self.report.proof = proof.as_json()
            if not proof.unexpected:
                break
        if not proof.agrees:
            raise CommandError(proof.disagreement(index))

    # Swap, tidy up

    def _swap(self, index: str) -> None:
        generations = Generations(self.client, self.report.alias, self.definition, self._short_retry)
        try:
            self._check_age(index, generations)
            before = generations.swap(index, self._lock.renew)
        except SwapUnknownError:
            self._keep_unfinished = True  # the swap may yet happen: its response was lost
            self.report.swapped = None
            raise
        self.report.swapped = True
        self.report.previous = before[0] if before else None

    def _remove_unfinished(self, index: str) -> None:
        retry = RetryPolicy(self._short_retry.timeout / 2)
        generations = Generations(self.client, self.report.alias, self.definition, retry)
        try:
            generations.remove(index, self._lock.renew)  # who took the lock over decides what becomes of the index
        except (CommandError, OpenSearchException) as error:
            self.progress.say(
                f"{index} could not be removed ({cause(error)}); the next load or `gear-indexer prune` removes it"
            )

    def _prune(self, index: str) -> None:
        """Removes the oldest finished generations; the one that served until now stays for a rollback."""
        previous = self.report.previous
        always = {index} if previous is None or self.job.keep < 2 else {index, previous}
        self.report.removed += remove_old(self._generations, self._lock, self.job.keep, always)
