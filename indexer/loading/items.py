"""Reads a job's sources, for loads and dry runs alike: each item becomes its index document, or is refused."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id
from indexer.loading.deduplicate import IdSet
from indexer.loading.job import LoadJob, Progress
from indexer.loading.prices import PriceSample
from indexer.sources.records import Record
from indexer.sources.source import Source

SHOW_EVERY = 256  # records between two looks at the clock
DUPLICATE = "duplicate id, an earlier item has it"

Refuse = Callable[[str, int, int | None, tuple[Refusal, ...]], None]  # source, line, id, why


class AcceptedItem(NamedTuple):
    """A valid item that no earlier one has the id of."""

    source: str
    line: int
    id: int
    document: dict[str, Any]


class ItemReader:
    """Reads everything once; read = accepted + rejected + duplicates, at every moment."""

    def __init__(self, job: LoadJob, progress: Progress, refuse: Refuse) -> None:
        """`refuse` gets every rejected item and every duplicate."""
        self._job = job
        self._progress = progress
        self._refuse = refuse
        self.read = 0
        self.accepted = 0
        self.rejected = 0
        self.duplicates = 0
        self.sample = PriceSample()

    def items(self) -> Iterator[AcceptedItem | None]:
        """The item of every record in order, None where it is not accepted; raises SourceError as its source does."""
        size_before = 0
        with IdSet() as ids:
            for name in self._job.files:
                with Source(name, self._job.mapper, self._progress.say) as source:
                    for record in source.records():
                        self.read += 1
                        yield self._accept(source, record, ids)
                        if self.read % SHOW_EVERY == 0:
                            self._progress.show(size_before + source.position, self.read)
                    size_before += source.position

    def _accept(self, source: Source, record: Record, ids: IdSet) -> AcceptedItem | None:
        line, content = record
        try:
            item = checked_item(content)
            document = index_document(item, self._job.platform)
        except ItemRefusedError as error:
            self.rejected += 1
            self._refuse(source.name, line, readable_id(content), source.with_source_names(error.refusals))
            return None
        if not ids.add(item.id):
            self.duplicates += 1
            self._refuse(source.name, line, item.id, (Refusal("id", str(item.id), DUPLICATE),))
            return None
        self.accepted += 1
        self.sample.add(item.id, document["price"])
        return AcceptedItem(source.name, line, item.id, document)
