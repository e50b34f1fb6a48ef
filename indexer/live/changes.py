"""Live changes: items or ids in; each put into or deleted from the index that serves and all that are being loaded.

Every change has a time, and the later one wins whatever arrives first. The time is taken before the indices are looked
up: an index that is made after that belongs to a load that began later, whose source wins.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from opensearchpy import OpenSearch

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id, shortened
from indexer.documents.rejects import RejectsFile
from indexer.engine.failures import CommandError
from indexer.engine.generations import Generations
from indexer.engine.results import Outcome
from indexer.engine.retry import Patience
from indexer.live.indices import Change, LiveIndices
from indexer.loading.report import ChangeReport
from indexer.orders.claims import Claims
from indexer.sources.mapping import Mapper
from indexer.sources.records import Record
from indexer.sources.source import Source, total_size
from mappings.definition import Definition
from mappings.item import LEAST_INTEGER, MOST_INTEGER
from mappings.platforms import Platform

BATCH_ITEMS = 1000
_WHOLE = re.compile(r"-?\d{1,19}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class ChangeJob:
    """Where the changes are: files, `-`, and for deletes also ids."""

    sources: tuple[str, ...]
    platform: Platform
    mapper: Mapper | None = None  # for items in another shape
    rejects: Path | None = None  # None: `<alias>-<UTC time>.rejects.ndjson` in the working directory
    give_up_after: float = 300.0  # seconds without progress


class _Read(NamedTuple):
    """A change and where it was read."""

    source: str
    line: int
    change: Change


class Changes:
    """One run of a job; `report` is true at every moment, also after a failure."""

    def __init__(
        self, job: ChangeJob, client: OpenSearch, definition: Definition, claims: Claims | None, report: ChangeReport
    ) -> None:
        self._job = job
        self._claims = claims
        self._report = report
        patience = Patience(job.give_up_after)
        generations = Generations(client, report.alias, definition, patience)
        self._indices = LiveIndices(client, generations, definition, patience)
        self._time = 0

    def upsert(self) -> None:
        """Puts every item in; raises CommandError where one was refused, when all others are done."""
        total_size(self._job.sources)  # a file that cannot be read is found before anything is changed
        self._run(self._records(self._job.sources), self._item)

    def delete(self) -> None:
        """Deletes every id; raises CommandError where a line has none, when all others are done."""
        ids = [what for what in self._job.sources if _WHOLE.fullmatch(what)]
        files = tuple(what for what in self._job.sources if not _WHOLE.fullmatch(what))
        total_size(files)
        given = (("the command line", Record(at, text.encode())) for at, text in enumerate(ids, 1))
        self._run(self._chained(given, files), self._deleted)

    def _chained(self, given: Iterator[tuple[str, Record]], files: tuple[str, ...]) -> Iterator[tuple[str, Record]]:
        yield from given
        for name in files:
            with Source(name) as source:
                for record in source.lines():
                    yield source.name, record

    def _records(self, files: tuple[str, ...]) -> Iterator[tuple[str, Record]]:
        for name in files:
            with Source(name, self._job.mapper) as source:
                for record in source.records():
                    yield source.name, record

    def _run(self, records: Iterator[tuple[str, Record]], read: Any) -> None:
        self._indices.targets()  # what would stop the first batch is found before anything is read
        stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S%f}"
        report = self._report
        with RejectsFile(self._job.rejects or Path(f"{report.alias}-{stamp}.rejects.ndjson")) as rejects:
            batch: dict[int, _Read] = {}
            try:
                for source, record in records:
                    report.read += 1
                    try:
                        change = read(record.content)
                    except ItemRefusedError as error:
                        report.rejected += 1
                        mapper = self._job.mapper
                        refusals = error.refusals if mapper is None else mapper.with_source_names(error.refusals)
                        rejects.write(source, record.line, readable_id(record.content), refusals)
                        continue
                    report.superseded += change.id in batch
                    batch[change.id] = _Read(source, record.line, change)
                    if len(batch) == BATCH_ITEMS:
                        self._send(batch, rejects)
                        batch = {}
                if batch:
                    self._send(batch, rejects)
            finally:
                report.reasons = rejects.reasons()
                report.rejects = None if rejects.path is None else str(rejects.path)
            rejects.close()
        if report.rejected:
            message = f"{report.rejected:,} of {report.read:,} changes were refused, {report.rejects} says why"
            raise CommandError(message)

    def _item(self, content: Any) -> Change:
        item = checked_item(content)
        return Change(item.id, index_document(item, self._job.platform))

    def _deleted(self, content: Any) -> Change:
        if isinstance(content, ItemRefusedError):
            raise content
        return Change(_id_of(content), None)

    def _send(self, batch: dict[int, _Read], rejects: RejectsFile) -> None:
        self._time = max(time.time_ns() // 1000, self._time + 1)  # a later batch is later on any clock
        self._report.version = self._time
        changes = [one.change for one in batch.values()]
        written = [change.id for change in changes if change.document is not None]
        bound = self._claims.bound_among(written) if self._claims is not None and written else set()
        for change in changes:
            if change.document is not None:
                change.document["bound"] = change.id in bound
        names, results = self._indices.send(changes, self._time)
        if self._claims is not None and written:
            # An order placed between the question and the write was told to the item that is replaced now.
            self._claims.tell_known_again(written)
        self._report.indices = names
        for number, (outcome, why) in results.items():
            self._count(batch[number], outcome, why, number in bound, rejects)

    def _count(self, read: _Read, outcome: Outcome, why: str, bound: bool, rejects: RejectsFile) -> None:
        report = self._report
        if outcome is Outcome.REFUSED:
            report.rejected += 1
            rejects.write(read.source, read.line, read.change.id, (Refusal(None, None, f"the engine: {why}"),))
        elif outcome is Outcome.SUPERSEDED:
            report.superseded += 1
        elif outcome is Outcome.MISSING:
            report.missing += 1
        elif read.change.document is None:
            report.deleted += 1
        else:
            report.written += 1
            report.bound += bound


def _id_of(text: bytes) -> int:
    """The id on a line: a whole number, or the `id` of a JSON object; raises ItemRefusedError."""
    line = text.strip()
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        reason = "must be a whole number or a JSON object with an id"
        raise ItemRefusedError((Refusal(None, shortened(line), reason),)) from error
    number = found.get("id") if isinstance(found, dict) else found
    if type(number) is not int or not LEAST_INTEGER <= number <= MOST_INTEGER:
        raise ItemRefusedError((Refusal("id", shortened(line), "must be a whole number of 64 bits"),))
    return number
