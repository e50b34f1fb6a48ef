"""Export: a platform's items as NDJSON that can be loaded again, by ascending id, as of one point in time.

What falls short of the number that the engine counted at that moment is an error.
"""

from collections.abc import Iterator
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from indexer.documents.timestamps import iso_without_offset
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PointInTimeLostError, Scan
from indexer.errors import CommandError
from indexer.products.items import ItemAssembler

PAGE_ITEMS = 500
RETRY_SECONDS = 60.0
_ALL: dict[str, Any] = {"match_all": {}}


class Export:
    """One export; `items` were written of `expected` that there are."""

    def __init__(self, client: OpenSearch, alias: str) -> None:
        self._alias = alias
        retry = RetryPolicy(RETRY_SECONDS)
        self.scan = Scan(client, alias, retry)
        self._items = ItemAssembler(client, retry)
        self.expected: int | None = None
        self.items = 0

    def pieces(self) -> Iterator[bytes]:
        """The text of one page of items after the other; raises CommandError where it cannot be completed."""
        try:
            with self.scan as scan:
                self.expected = scan.count(_ALL)
                for page in scan.pages(_ALL, source=True, page_items=PAGE_ITEMS):
                    items = self._items.of_hits(page)
                    yield b"".join(map(_line, items, (hit["_source"].get("listedAt") for hit in page)))
                    self.items += len(page)
        except NotFoundError as error:
            message = f"nothing is loaded behind {self._alias}; `gear-indexer status` shows what there is"
            raise CommandError(message) from error
        except PointInTimeLostError as error:
            message = f"the engine lost the point in time of the export after {self.items:,} items; export again"
            raise CommandError(message) from error
        if self.items != self.expected:
            message = f"incomplete: {self.items:,} items came of {self.expected} that {self._alias} has; export again"
            raise CommandError(message)


def _line(item: bytes, listed: int | None) -> bytes:
    """The line of an item, which is JSON as responses show it."""
    timestamp = "null" if listed is None else f'"{iso_without_offset(listed)}Z"'
    return b'%b,"listedAt":%b}\n' % (item.removesuffix(b"}"), timestamp.encode())
