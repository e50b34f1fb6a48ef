"""A record: what a reader found at one line of a source, before anybody looked whether it is a valid item."""

from typing import Any, NamedTuple

from indexer.documents.document import ItemRefusedError


class Record(NamedTuple):
    """`content` is the item's JSON text, or its values, or why the reader could not read it."""

    line: int
    content: bytes | dict[str, Any] | ItemRefusedError
