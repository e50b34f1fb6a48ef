"""Writes of one request: items put, items deleted, and what became of each."""

from typing import Any, Final

from api.catalogue.body import RefusedItem, Sent, read_upserts
from api.catalogue.schemas import DeleteBody
from api.errors import invalid
from api.http.json_body import checked, parse
from indexer.documents.refusal import ItemRefusedError, refused_by_engine
from indexer.engine.bulk import Outcome
from indexer.live.change import UNDATED, Batch, Change, ReadChange, version_of
from indexer.live.writer import LiveWriter
from mappings.platforms import Platform

ITEMS_PER_COST: Final = 100
"""So many items cost 1 in the rate limit of their token."""

Json = dict[str, Any]


class Write:
    """A request that was read and not written yet."""

    def __init__(self, batch: Batch, refused: list[RefusedItem], items: int) -> None:
        self._batch = batch
        self._refused = refused
        self.items = items

    @property
    def extra_cost(self) -> int:
        """What it costs beyond the 1 of its request."""
        return max(0, -(-self.items // ITEMS_PER_COST) - 1)

    def run(self, writer: LiveWriter, *, visible: bool) -> Json:
        """Writes; the answer. May be repeated."""
        superseded, refused = self._batch.superseded, list(self._refused)
        written = 0
        if self._batch.reads:
            for number, (outcome, reason) in writer.write(self._batch.changes()).results.items():
                if outcome is Outcome.REFUSED:
                    line = self._batch.reads[number].line
                    refused.append(RefusedItem(line, number, refused_by_engine(reason)))
                elif outcome is Outcome.SUPERSEDED:
                    superseded += 1
                else:
                    written += 1
            if visible:
                writer.show()
        rows = [item.row() for item in sorted(refused, key=lambda item: item.line)]
        return {"status": "success", "written": written, "superseded": superseded, "refused": rows}


def read_puts(sent: Sent, platform: Platform) -> Write:
    """The items of a body; raises ApiError where it is no list of items."""
    upserts = read_upserts(sent, platform)
    return Write(upserts.batch, upserts.refused, upserts.items)


def read_deletes(sent: Sent) -> Write:
    """The ids of a body; raises ApiError where it breaks a rule."""
    body = checked(DeleteBody, parse(sent.unpacked()))
    try:
        version = UNDATED if body.changed_at is None else version_of(body.changed_at)
    except ItemRefusedError as error:
        raise invalid("changedAt", error.refusals[0].reason) from error
    batch = Batch()
    for number in dict.fromkeys(body.ids):
        batch.add(ReadChange("", 1, Change(number, None, version)))
    return Write(batch, [], len(batch))
