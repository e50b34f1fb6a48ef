"""Live changes: items are put into, or deleted from, the index that serves and all that are being loaded.

Every change has a version, its time, and the later one wins whatever arrives first. It is the source's own `changedAt`
or else taken before the indices are looked up: an index that is made after that belongs to a load that began later,
whose source wins.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from indexer.documents.rejects import RejectsFile
from indexer.engine.bulk import Outcome
from indexer.errors import CommandError
from indexer.live.change import Batch, Change, RefusedChange, delete_of, read_change, upsert_of
from indexer.live.outcomes import ChangeCounts
from indexer.live.writer import LiveWriter
from indexer.sources.mapping import Mapper
from indexer.sources.records import Record
from indexer.sources.source import Source, total_size
from mappings.platforms import Platform

BATCH_ITEMS = 1000
_ID = re.compile(r"-?\d{1,19}", re.ASCII)


@dataclass
class ChangeReport(ChangeCounts):
    """What became of the changes of some sources."""

    version: int | None = None  # the last request's time, that of its changes which state none
    bound: int = 0  # of the written ones
    indices: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic, repr=False)

    def as_json(self) -> dict[str, Any]:
        values = super().as_json()
        seconds = round(time.monotonic() - values.pop("started"), 3)
        return {**values, "seconds": seconds}


@dataclass(frozen=True)
class SourceChanges:
    """The changes of some sources; `report` is true at every moment, also after a failure."""

    writer: LiveWriter
    platform: Platform
    mapper: Mapper | None  # for items in another shape
    rejects: Path | None  # None: `<alias>-<UTC time>.rejects.ndjson`
    report: ChangeReport

    def upsert(self, sources: tuple[str, ...]) -> None:
        """Puts every item in; raises CommandError where one was refused, when all others are done."""
        total_size(sources)  # a file that cannot be read is found before anything is changed
        self._run(self._read(sources, Source.records), partial(upsert_of, platform=self.platform))

    def delete(self, sources: tuple[str, ...]) -> None:
        """Deletes every id; raises CommandError where a line has none, when all others are done."""
        ids = [source for source in sources if _ID.fullmatch(source)]
        files = tuple(source for source in sources if not _ID.fullmatch(source))
        total_size(files)
        typed = (("the command line", Record(at, text.encode())) for at, text in enumerate(ids, 1))
        self._run(chain(typed, self._read(files, Source.lines)), delete_of)

    def _read(
        self, files: tuple[str, ...], records: Callable[[Source], Iterator[Record]]
    ) -> Iterator[tuple[str, Record]]:
        for name in files:
            with Source(name, self.mapper) as source:
                for record in records(source):
                    yield source.name, record

    def _run(self, records: Iterator[tuple[str, Record]], change_of: Callable[[Any], Change]) -> None:
        self.writer.check()  # what would stop the first batch is found before anything is read
        stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S%f}"
        report = self.report
        with RejectsFile(self.rejects or Path(f"{report.alias}-{stamp}.rejects.ndjson")) as rejects:
            batch = Batch()
            try:
                for source, record in records:
                    read = read_change(source, record, change_of)
                    if isinstance(read, RefusedChange) and self.mapper is not None:
                        read = read._replace(refusals=self.mapper.with_source_names(read.refusals))
                    report.take(read, batch, rejects)
                    if len(batch) == BATCH_ITEMS:
                        self._send(batch, rejects)
                        batch = Batch()
                if batch:
                    self._send(batch, rejects)
            finally:
                report.note_rejects(rejects)
        if (refusals := report.refusals()) is not None:
            raise CommandError(refusals)

    def _send(self, batch: Batch, rejects: RejectsFile) -> None:
        report = self.report
        written = report.write(batch, self.writer, rejects)
        report.version, report.indices = written.version, written.indices
        report.bound += sum(written.results[number][0] is Outcome.DONE for number in written.bound)
