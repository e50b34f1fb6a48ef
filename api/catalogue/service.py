"""Writes of one request: items put, items deleted, what became of each, and the audit of all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from api.background.failing_rows import FailingRows
from api.background.workers import PeriodicWorker
from api.catalogue.body import MAX_ITEMS, SentBody, records_of, refused_row
from api.catalogue.schemas import DeleteBody
from api.errors import ApiError, invalid
from api.http.json_body import checked, parse
from indexer.documents.refusal import ItemRefusedError, refused_by_engine
from indexer.engine.bulk import Outcome
from indexer.live.change import UNDATED, Batch, Change, ReadChange, RefusedChange, read_change, upsert_of, version_of
from indexer.live.writer import LiveWriter
from indexer.sources.records import SourceError
from mappings.platforms import Platform
from store import audit
from store.auth.tokens import Token
from store.connection.engine import Store
from store.records import Actor

ITEMS_PER_COST: Final = 100
"""So many items cost 1 in the rate limit of their token."""
RECORD_SECONDS: Final = 60.0
ACTION: Final = "catalogue.change"


@dataclass
class Write:
    """A request that was read and not written yet: its changes, what was refused of it, and how many items it has."""

    batch: Batch = field(default_factory=Batch)
    refused: list[RefusedChange] = field(default_factory=list)
    items: int = 0

    @property
    def extra_cost(self) -> int:
        """What it costs beyond the 1 of its request."""
        return max(0, -(-self.items // ITEMS_PER_COST) - 1)

    def run(self, writer: LiveWriter, *, visible: bool) -> dict[str, Any]:
        """Writes; the response. May be repeated."""
        superseded, refused = self.batch.superseded, list(self.refused)
        written = 0
        if self.batch.reads:
            for number, (outcome, reason) in writer.write(self.batch.changes()).results.items():
                if outcome is Outcome.REFUSED:
                    line = self.batch.reads[number].line
                    refused.append(RefusedChange("", line, number, refused_by_engine(reason)))
                elif outcome is Outcome.SUPERSEDED:
                    superseded += 1
                else:
                    written += 1
            if visible:
                writer.show()
        rows = [refused_row(item) for item in sorted(refused, key=lambda item: item.line)]
        return {"written": written, "superseded": superseded, "refused": rows}


def read_puts(sent: SentBody, platform: Platform) -> Write:
    """The items of a body; raises ApiError where it is no list of items, and nothing of it is done then."""
    write = Write()
    try:
        for record in records_of(sent):
            write.items += 1
            if write.items > MAX_ITEMS:
                raise invalid("items", f"at most {MAX_ITEMS:,} in one request: send them in several")
            read = read_change("", record, partial(upsert_of, platform=platform))
            if isinstance(read, ReadChange):
                write.batch.add(read)
            else:
                write.refused.append(read)
    except SourceError as error:
        raise ApiError("invalid_json", str(error)) from error
    return write


def read_deletes(sent: SentBody) -> Write:
    """The ids of a body; raises ApiError where it breaks a rule."""
    body = checked(DeleteBody, parse(sent.unpacked()))
    try:
        version = UNDATED if body.changed_at is None else version_of(body.changed_at)
    except ItemRefusedError as error:
        raise invalid("changedAt", error.refusals[0].reason) from error
    batch = Batch()
    for number in dict.fromkeys(body.ids):
        batch.add(ReadChange("", 1, Change(number, None, version)))
    return Write(batch, items=len(batch))


class WriteAudit:
    """Counts writes until they are recorded: one entry a minute for each token and platform that wrote.

    An entry for each request would be more rows than items: these are never deleted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[tuple[Actor, str], Counter[str]] = {}
        self._failing = FailingRows[tuple[Actor, str]]("audit of writes")
        self.worker = PeriodicWorker("audit of writes", self.record, drain=True)

    def add(self, token: Token, platform: str, verb: str, response: dict[str, Any]) -> None:
        """Counts a write; `verb` is `put` or `delete`."""
        counts = self._counts.setdefault((token.actor, platform), Counter())
        refused = len(response["refused"])
        counts.update(
            {verb: response["written"], "superseded": response["superseded"], "refused": refused, "requests": 1}
        )

    async def record(self) -> float:
        """Writes the entries, at the end also those that pause because they failed; returns the seconds until the next
        time. Raises StoreUnavailable, and keeps them then.
        """
        keys = list(self._counts)
        await self._failing.run(keys if self.worker.is_stopping else self._failing.ready(keys), self._write)
        return RECORD_SECONDS

    async def _write(self, keys: Sequence[tuple[Actor, str]]) -> list[None]:
        counts = {key: self._counts.pop(key) for key in keys}
        try:
            async with self._store.transaction() as connection:
                for (actor, platform), details in counts.items():
                    await audit.record(connection, actor, ACTION, platform, datetime.now(UTC), details)
        except BaseException:
            for key, details in counts.items():
                self._counts.setdefault(key, Counter()).update(details)
            raise
        return []
