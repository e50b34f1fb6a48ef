"""An export: a platform's alias in, its items as NDJSON that can be loaded again out, by ascending id.

The items are those of one moment (a point in time of the engine), read page by page; what falls short of the number
that the engine counted at that moment is an error.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import orjson
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException
from pydantic import BaseModel

from indexer.documents.checked_item import LoadedItem
from indexer.documents.timestamps import EPOCH
from indexer.engine.failures import CommandError
from indexer.engine.retry import Patience
from mappings.item import Attachment, Details, Paint

PAGE_ITEMS = 500
KEEP_ALIVE = "5m"  # for the next page
PATIENCE_SECONDS = 60.0


class Export:
    """One export; `items` were written of `expected` that there are; `pit` is the engine's name for its moment."""

    def __init__(self, client: OpenSearch, alias: str, *, page_items: int = PAGE_ITEMS) -> None:
        self._client = client
        self._alias = alias
        self._page_items = page_items
        self._patience = Patience(PATIENCE_SECONDS)
        self.pit: str | None = None
        self.expected: int | None = None
        self.items = 0

    def pieces(self) -> Iterator[bytes]:
        """The text of one page of items after the other; raises CommandError where it cannot be completed."""
        self.pit = pit = self._moment()
        try:
            after: int | None = None
            while hits := self._page(pit, after):
                yield b"".join(line_of(hit["_source"]) for hit in hits)
                self.items += len(hits)
                after = hits[-1]["sort"][0]
        finally:
            with suppress(OpenSearchException):  # it ends by itself, and what happened before matters more
                self._client.transport.perform_request("DELETE", "/_search/point_in_time", body={"pit_id": [pit]})
        if self.items != self.expected:
            message = f"incomplete: {self.items:,} items came of {self.expected} that {self._alias} has; export again"
            raise CommandError(message)

    def _moment(self) -> str:
        try:
            answer = self._patience.call(
                lambda: self._client.transport.perform_request(
                    "POST", f"/{self._alias}/_search/point_in_time", params={"keep_alive": KEEP_ALIVE}
                )
            )
        except NotFoundError as error:
            message = f"nothing is loaded behind {self._alias}; `gear-indexer status` shows what there is"
            raise CommandError(message) from error
        self._whole(answer)
        return str(answer["pit_id"])

    def _page(self, pit: str, after: int | None) -> list[dict[str, Any]]:
        body: dict[str, Any] = {
            "size": self._page_items,
            "query": {"match_all": {}},
            "pit": {"id": pit, "keep_alive": KEEP_ALIVE},
            "sort": [{"id": "asc"}],  # unique, so no item falls between two pages
            "track_total_hits": self.expected is None,
            "_source": ["item", "listedAt"],
        }
        if after is not None:
            body["search_after"] = [after]
        try:
            answer = self._patience.call(
                lambda: self._client.search(body=body, params={"allow_partial_search_results": "false"})
            )
        except NotFoundError as error:
            message = f"the engine has lost the moment that was being exported after {self.items:,} items; export again"
            raise CommandError(message) from error
        self._whole(answer)
        if self.expected is None:
            self.expected = int(answer["hits"]["total"]["value"])
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        return hits

    def _whole(self, answer: dict[str, Any]) -> None:
        shards = answer["_shards"]
        if shards["failed"] or shards["successful"] != shards["total"] or answer.get("timed_out"):
            message = f"not every part of {self._alias} answered, after {self.items:,} items: {shards}"
            raise CommandError(message)


def line_of(source: dict[str, Any]) -> bytes:
    """The line of a document; the engine gives keys back in an order of its own, here they have the item's."""
    listed = source.get("listedAt")
    row = {**source["item"], "listedAt": None if listed is None else moment(listed)}
    for name in _INNER.keys() & row.keys():
        row[name] = _ordered(row[name], _INNER[name])
    row["attachments"] = [_ordered(one, _ATTACHMENT) for one in row.get("attachments", ())]
    return orjson.dumps(_ordered(row, _ITEM), option=orjson.OPT_APPEND_NEWLINE)


def _names(shape: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in shape.model_fields.items())


_ITEM = _names(LoadedItem)
_INNER = {"details": _names(Details), "paint": _names(Paint)}
_ATTACHMENT = _names(Attachment)


def _ordered(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The same keys: those of `names` first, then what another version of this program may have added."""
    return {name: values[name] for name in (*names, *sorted(values.keys() - set(names))) if name in values}


def moment(nanoseconds: int) -> str:
    """Nanoseconds from 1970 as RFC 3339 in UTC, exactly, without zeros at the end of the second."""
    seconds, rest = divmod(nanoseconds, 10**9)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}{fraction}Z"
