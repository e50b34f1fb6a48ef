"""Reads items within a JSON object: the elements of an array or the members of an object, at a path like `data.items`.

Several objects may follow each other, as a pager that appends its responses writes them. One item is held at a time.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from indexer.documents.refusal import ItemRefusedError, shortened
from indexer.sources.json_array import JsonWindow, elements
from indexer.sources.records import Record, SourceError

# The column of a member that is no object but a plain value, such as {"AK-47 | Slate": 1.25}.
VALUE = "value"


def object_items(chunks: Iterator[bytes], path: Sequence[str], key: str | None) -> Iterator[Record]:
    """The items at `path`; with `key`, the members of an object there, whose names become the column `key`.

    Raises SourceError where `path` leads nowhere or the text is no complete object.
    """
    window = JsonWindow(chunks)
    window.skip_blanks()
    while window.next_byte():
        yield from _items_at(window, tuple(path), key)
        window.skip_blanks()


def _items_at(window: JsonWindow, path: tuple[str, ...], key: str | None) -> Iterator[Record]:
    if not path:
        yield from elements(window) if key is None else _named_members(window, key)
        return
    line = window.line
    reached = False
    for _ in window.entries(b"{}", f"the object with {path[0]!r}"):
        name = window.read_key()
        if not reached and _text(name) == path[0]:
            reached = True
            yield from _items_at(window, path[1:], key)
            window.skip_blanks()
        else:
            window.skip_element(b"}")
    if not reached:
        message = f"line {line}: the object that begins here has no {path[0]!r}, where the map says the items are"
        raise SourceError(message)


def _named_members(window: JsonWindow, key: str) -> Iterator[Record]:
    for _ in window.entries(b"{}", "the object of the items"):
        name = window.read_key()
        line, content = window.read_element(b"}")
        yield Record(line, _named(name, content, key))


def _named(name: bytes, content: Any, key: str) -> dict[str, Any] | ItemRefusedError:
    try:
        value = orjson.loads(content)
        return {**(value if isinstance(value, dict) else {VALUE: value}), key: orjson.loads(name)}
    except orjson.JSONDecodeError as error:
        return ItemRefusedError.of_item(f"Invalid JSON: {error}", shortened(name + b": " + content))


def _text(name: bytes) -> str | None:
    try:
        return str(orjson.loads(name))
    except orjson.JSONDecodeError:
        return None
