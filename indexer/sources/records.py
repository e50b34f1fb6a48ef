"""Defines what every reader yields, the records, and the limits and the error that readers share. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from indexer.documents.refusal import ItemRefusedError

# Far more than the largest valid item: 100 attachments of 3,000 characters, each character up to 12 bytes of escapes.
MAX_ITEM_BYTES = 4 * 1024 * 1024
BLANKS = b" \t\r\n"


class SourceError(ValueError):
    """A source cannot be read to its end; the message says where and why."""


class Record(NamedTuple):
    """An item that is not validated yet; `content` is its JSON text, its values, or why it could not be read."""

    line: int
    content: bytes | dict[str, Any] | ItemRefusedError


def nest(values: dict[str, Any]) -> dict[str, Any]:
    """Turns `{"details.weapon": …}` into `{"details": {"weapon": …}}`."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        part, dot, inner = name.partition(".")
        if dot:
            nested.setdefault(part, {})[inner] = value
        else:
            nested[name] = value
    return nested


def numbered_lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Each line without its line feed, counted from 1; None for one longer than an item may be, which is not held."""
    number = 0
    tail = b""
    skipping = False
    for chunk in chunks:
        *lines, tail = (tail + chunk).split(b"\n")
        for line in lines:
            number += 1
            yield number, None if skipping or len(line) > MAX_ITEM_BYTES else line
            skipping = False
        if len(tail) > MAX_ITEM_BYTES:
            skipping = True
            tail = b""
    if tail or skipping:
        yield number + 1, None if skipping else tail


def json_lines(chunks: Iterator[bytes]) -> Iterator[Record]:
    """Every line of NDJSON that is not blank."""
    for number, line in numbered_lines(chunks):
        if line is None:
            yield Record(number, ItemRefusedError.of_item(f"is longer than {MAX_ITEM_BYTES:,} bytes"))
        elif line and not line.isspace():
            yield Record(number, line)


def whole_json_lines(chunks: Iterator[bytes]) -> Iterator[Record]:
    """As `json_lines`; raises SourceError where the last line has no line feed and is no JSON: the source was cut."""
    end = b""

    def ending() -> Iterator[bytes]:
        nonlocal end
        for chunk in chunks:
            end = chunk.rstrip(b" \t\r")[-1:] or end  # blanks at the end are no item
            yield chunk

    last: Record | None = None
    for record in json_lines(ending()):
        if last is not None:
            yield last
        last = record
    if last is None:
        return
    if end != b"\n" and isinstance(last.content, bytes):
        try:
            orjson.loads(last.content)
        except orjson.JSONDecodeError as error:
            raise SourceError(f"line {last.line}: the NDJSON breaks off") from error
    yield last
