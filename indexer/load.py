"""A load: sources in, a checked new generation behind the alias and a report out; or the old one as it was.

read = indexed + rejected + duplicates, the settings and the definition are checked before the swap, and the index must
prove that it holds what was read. Whatever fails until then leaves the alias alone and removes what was filled.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException
from pyroaring import BitMap64

from indexer.bulk import BulkWriter, Entry, index_lines
from indexer.claims import Claims, carry
from indexer.deletes import Deletes
from indexer.digest import stated
from indexer.document import (
    Fault,
    ItemRefusedError,
    index_document,
    item_of,
    readable_id,
)
from indexer.expected import Expected, key_of
from indexer.failures import CommandError, cause
from indexer.generations import Generations, loading_alias
from indexer.interruption import Interruption
from indexer.mapped import Mapper
from indexer.patience import GivenUpError, Patience
from indexer.progress import LoadProgress
from indexer.proof import prove
from indexer.read import Source
from indexer.record import Record
from indexer.rejects import RejectsFile
from indexer.report import LoadReport
from indexer.warm import warm
from mappings.definition import Definition
from mappings.names import generation_name
from mappings.platforms import Platform

SHOW_EVERY = 256  # items between two looks at the clock
# Seconds for the calls that must not be left half-done: the swap, and removing what a failed load has filled.
SHORT_PATIENCE = 30.0
# A change that is a little older than the load may arrive late in its index: how often such are removed again.
LATE_CHANGES = 3
COPIES_SECONDS = 60.0  # for the copies of the new index; a swap before they are there is safe, only slower at first


@dataclass(frozen=True, kw_only=True)
class LoadJob:
    """What is to be loaded, and how much trouble is tolerated."""

    files: tuple[str, ...]
    platform: Platform
    rejects: Path | None = None  # None: `<index>.rejects.ndjson` in the working directory
    max_rejects: float = 1.0  # percent of what was read
    min_share: float = 50.0  # percent of the items that serve now
    allow_empty: bool = False
    keep: int = 2  # generations in all, the serving one included
    senders: int = 2
    give_up_after: float = 300.0  # seconds without progress
    mapper: Mapper | None = None  # None: the sources have items in our shape


class Load:
    """One run of a job; `report` is true at every moment, also after a failure."""

    def __init__(
        self, job: LoadJob, client: OpenSearch, definition: Definition, claims: Claims | None, report: LoadReport
    ) -> None:
        self._job = job
        self._client = client
        self._definition = definition
        self._claims = claims
        self._report = report
        self._patience = Patience(job.give_up_after)
        self._generations = Generations(client, report.alias, definition, self._patience)
        self._seen = BitMap64()
        self._version = 0

    def run(self, progress: LoadProgress, interruption: Interruption) -> None:
        """Loads, checks and swaps; raises CommandError, SourceError or the client's error where it could not."""
        # What would stop the swap in the end is found before any work is done.
        self._generations.all()
        if self._claims is not None:
            self._claims.check_file(self._client, self._report.alias)
            self._claims.bound()
        began = datetime.now(UTC)
        index = generation_name(self._report.alias, began, self._definition.fingerprint)
        self._report.index = index
        removable = True
        deletes = Deletes(self._client, index, self._patience)
        try:
            with Expected() as expected:
                with self._report.phase("fill"):
                    self._begin(index, deletes)
                    self._fill(index, expected, progress)
                progress.say(f"{self._report.counts()}; checking {index}")
                self._check()
                bound = self._finish(index, deletes)
                with self._report.phase("proof"):
                    self._prove(index, expected, deletes)
            with interruption.held(), self._report.phase("swap"):
                try:
                    self._swap(index)
                except GivenUpError as error:
                    removable = False  # the swap may yet happen: its answer was lost
                    message = f"whether {index} serves now is not known, `gear-indexer status` tells: {error}"
                    raise CommandError(message) from error
                self._tell_again(bound, began)
        finally:
            if removable and not self._report.swapped:
                self._remove_unfinished(index, progress)
        deletes.remove()
        self._prune(index)

    def _begin(self, index: str, deletes: Deletes) -> None:
        """Makes the index, then takes the time: whoever changes an item later than that finds the index."""
        deletes.create()
        self._generations.create(index)
        self._version = self._report.version = time.time_ns() // 1000
        self._generations.begin(index, self._version)

    def _finish(self, index: str, deletes: Deletes) -> set[int]:
        """Makes a filled index fit for service; returns the items that active orders hold."""
        report = self._report
        with report.phase("deletes"):
            deletes.apply(self._version)
        with report.phase("settings"):
            report.copies = self._generations.prepare(index, min(self._job.give_up_after, COPIES_SECONDS))
        with report.phase("claims"):
            bound = self._carry_claims(index)
        with report.phase("warm-up"):
            warm(self._client, index, self._patience)
        return bound

    def _prove(self, index: str, expected: Expected, deletes: Deletes) -> None:
        proof = prove(self._client, index, self._version, expected, self._patience)
        for _ in range(LATE_CHANGES):
            if not proof.strangers:
                break
            deletes.apply(self._version)
            proof = prove(self._client, index, self._version, expected, self._patience)
        self._report.proof = proof.as_json()
        if not proof.agrees:
            raise CommandError(proof.disagreement(index))

    def _fill(self, index: str, expected: Expected, progress: LoadProgress) -> None:
        rejects_path = self._job.rejects or Path(f"{index}.rejects.ndjson")
        with ExitStack() as stack:
            rejects = stack.enter_context(RejectsFile(rejects_path))

            def refused(source: str, entry: Entry, reason: str) -> None:
                expected.refuse(entry.id, entry.digest)
                rejects.write(source, entry.line, entry.id, (Fault(None, None, f"the engine: {reason}"),))

            writer = BulkWriter(
                self._client,
                loading_alias(index),
                refused=refused,
                patience=Patience(self._job.give_up_after),  # its own: it ends when the writer is stopped
                senders=self._job.senders,
            )
            try:
                self._read_all(writer, rejects, expected, progress)
                writer.finish()
            finally:
                writer.stop()
                self._report.indexed = writer.acknowledged
                self._report.superseded = writer.superseded
                self._report.retries = writer.retries
                self._report.bytes = writer.bytes
                self._report.reasons = rejects.reasons()
                self._report.rejected += writer.refused
                self._report.rejects = None if rejects.path is None else str(rejects.path)
            rejects.close()

    def _read_all(self, writer: BulkWriter, rejects: RejectsFile, expected: Expected, progress: LoadProgress) -> None:
        done = 0
        for name in self._job.files:
            with Source(name, self._job.mapper, progress.say) as source:
                for record in source.records():
                    self._take(source, record, writer, rejects, expected)
                    if self._report.read % SHOW_EVERY == 0:
                        progress.show(done + source.position, self._report.read)
                done += source.position

    def _take(
        self, source: Source, record: Record, writer: BulkWriter, rejects: RejectsFile, expected: Expected
    ) -> None:
        line, content = record
        self._report.read += 1
        try:
            item = item_of(content)
            document = index_document(item, self._job.platform)
        except ItemRefusedError as error:
            self._report.rejected += 1
            rejects.write(source.name, line, readable_id(content), source.explained(error.faults))
            return
        key = key_of(item.id)
        if key in self._seen:
            self._report.duplicates += 1
            rejects.write(
                source.name, line, item.id, (Fault("id", str(item.id), "duplicate id, an earlier item has it"),)
            )
            return
        self._seen.add(key)
        text, digest = stated(document, self._version)
        expected.add(item.id, digest)
        writer.write(source.name, Entry(line, item.id, index_lines(item.id, self._version, text), digest))

    def _check(self) -> None:
        report = self._report
        if report.read != report.indexed + report.rejected + report.duplicates:
            message = f"the numbers do not add up, nothing is swapped in: {report.counts()}"
            raise CommandError(message)
        if report.rejected * 100 > self._job.max_rejects * report.read:
            message = (
                f"{report.rejected:,} of {report.read:,} items were refused, more than {self._job.max_rejects:g} % "
                f"(--max-rejects); {report.rejects} says why"
            )
            raise CommandError(message)
        if report.indexed == 0 and not self._job.allow_empty:
            message = "the source has no items, so the old ones stay; --allow-empty swaps in an empty index"
            raise CommandError(message)
        serving = self._generations.serving_items() or 0
        if report.indexed and report.indexed * 100 < self._job.min_share * serving:
            message = (
                f"the new index would have {report.indexed:,} items where {serving:,} serve, less than "
                f"{self._job.min_share:g} % (--min-share): is the source complete? --min-share 0 swaps it in"
            )
            raise CommandError(message)

    def _carry_claims(self, index: str) -> set[int]:
        if self._claims is None:
            return set()
        bound = self._claims.bound()
        self._report.bound = carry(self._client, index, bound, self._patience)
        return bound

    def _swap(self, index: str) -> None:
        patience = Patience(min(self._job.give_up_after, SHORT_PATIENCE))
        generations = Generations(self._client, self._report.alias, self._definition, patience)
        states = generations.all()
        mine = next(state.generation for state in states if state.index == index)
        newer = [state.index for state in states if state.serving and state.generation > mine]
        if newer:
            message = f"{newer[0]}, begun later, was swapped in meanwhile; this older load is dropped"
            raise CommandError(message)
        before = generations.swap(index)
        self._report.swapped = True
        self._report.previous = before[0] if before else None

    def _tell_again(self, bound: set[int], began: datetime) -> None:
        """Orders placed or ended while this ran were told to the old index: they are told again."""
        if self._claims is not None:
            self._claims.tell_again(bound, began)

    def _remove_unfinished(self, index: str, progress: LoadProgress) -> None:
        generations = Generations(self._client, self._report.alias, self._definition, Patience(SHORT_PATIENCE / 2))
        try:
            generations.remove(index)
        except (CommandError, OpenSearchException) as error:
            why = cause(error) if isinstance(error, OpenSearchException) else str(error)
            progress.say(f"{index} could not be removed ({why}); `gear-indexer prune` removes it")

    def _prune(self, index: str) -> None:
        """Removes the oldest finished generations; the one that served until now stays for a rollback."""
        states = [state for state in self._generations.all() if not state.loading]
        kept = {index} if self._report.previous is None or self._job.keep < 2 else {index, self._report.previous}
        for state in reversed(states):
            if len(kept) < self._job.keep:
                kept.add(state.index)
        for state in states:
            if state.index not in kept:
                self._generations.remove(state.index)
                self._report.removed.append(state.index)
