"""A load: sources in, a checked new generation behind the alias and a report out; or the old one as it was.

read = indexed + rejected + duplicates, the engine's own count, the settings and the definition are checked before the
swap. Whatever fails until then leaves the alias alone and removes what was filled.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException
from pyroaring import BitMap64

from indexer.bulk import BulkWriter, Entry
from indexer.claims import Claims, carry
from indexer.document import (
    Fault,
    ItemRefusedError,
    index_document,
    item_from_json,
    item_from_values,
    readable_id,
)
from indexer.failures import CommandError, cause
from indexer.generations import Generations, loading_alias
from indexer.interruption import Interruption
from indexer.mapped import Mapper
from indexer.patience import GivenUpError, Patience
from indexer.progress import LoadProgress
from indexer.read import Source
from indexer.record import Record
from indexer.rejects import RejectsFile
from indexer.report import LoadReport
from mappings.definition import Definition
from mappings.item import LEAST_INTEGER
from mappings.names import generation_name
from mappings.platforms import Platform

SHOW_EVERY = 256  # items between two looks at the clock
# Seconds for the calls that must not be left half-done: the swap, and removing what a failed load has filled.
SHORT_PATIENCE = 30.0


@dataclass(frozen=True, kw_only=True)
class LoadJob:
    """What is to be loaded, and how much trouble is tolerated."""

    files: tuple[str, ...]
    platform: Platform
    rejects: Path | None = None  # None: `<index>.rejects.ndjson` in the working directory
    max_rejects: float = 1.0  # percent of what was read
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

    def run(self, progress: LoadProgress, interruption: Interruption) -> None:
        """Loads, checks and swaps; raises CommandError, SourceError or the client's error where it could not."""
        # What would stop the swap in the end is found before any work is done.
        self._generations.all()
        if self._claims is not None:
            self._claims.bound()
        began = datetime.now(UTC)
        index = generation_name(self._report.alias, began, self._definition.fingerprint)
        self._report.index = index
        removable = True
        try:
            self._generations.create(index)
            self._fill(index, progress)
            progress.say(f"{self._report.counts()}; checking {index}")
            self._check(index)
            bound = self._carry_claims(index)
            with interruption.held():
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
        self._prune(index)

    def _fill(self, index: str, progress: LoadProgress) -> None:
        rejects_path = self._job.rejects or Path(f"{index}.rejects.ndjson")
        with ExitStack() as stack:
            rejects = stack.enter_context(RejectsFile(rejects_path))

            def refused(source: str, entry: Entry, reason: str) -> None:
                rejects.write(source, entry.line, entry.id, (Fault(None, None, f"the engine: {reason}"),))

            writer = BulkWriter(
                self._client,
                loading_alias(index),
                refused=refused,
                patience=Patience(self._job.give_up_after),  # its own: it ends when the writer is stopped
                senders=self._job.senders,
            )
            try:
                self._read_all(writer, rejects, progress)
                writer.finish()
            finally:
                writer.stop()
                self._report.indexed = writer.acknowledged
                self._report.rejected += writer.refused
                self._report.rejects = None if rejects.path is None else str(rejects.path)
            rejects.close()

    def _read_all(self, writer: BulkWriter, rejects: RejectsFile, progress: LoadProgress) -> None:
        done = 0
        for name in self._job.files:
            with Source(name, self._job.mapper, progress.say) as source:
                for record in source.records():
                    self._take(source, record, writer, rejects)
                    if self._report.read % SHOW_EVERY == 0:
                        progress.show(done + source.position, self._report.read)
                done += source.position

    def _take(self, source: Source, record: Record, writer: BulkWriter, rejects: RejectsFile) -> None:
        line, content = record
        self._report.read += 1
        try:
            if isinstance(content, ItemRefusedError):
                raise content
            item = item_from_json(content) if isinstance(content, bytes) else item_from_values(content)
            document = index_document(item, self._job.platform)
        except ItemRefusedError as error:
            self._report.rejected += 1
            rejects.write(source.name, line, readable_id(content), source.explained(error.faults))
            return
        key = item.id - LEAST_INTEGER  # the set takes no negative numbers
        if key in self._seen:
            self._report.duplicates += 1
            rejects.write(
                source.name, line, item.id, (Fault("id", str(item.id), "duplicate id, an earlier item has it"),)
            )
            return
        self._seen.add(key)
        data = b'{"index":{"_id":"%d"}}\n%b\n' % (item.id, orjson.dumps(document))
        writer.write(source.name, Entry(line, item.id, data))

    def _check(self, index: str) -> None:
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
        self._generations.check(index, report.indexed)

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
