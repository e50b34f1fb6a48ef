"""One change of an item: read from what a source gives, with the source's own time of it."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.refusal import ItemRefusedError, Refusal, readable_id, shortened
from indexer.documents.timestamps import microseconds
from indexer.sources.records import Record
from mappings.items.item import MAX_INTEGER, MIN_INTEGER
from mappings.platforms import Platform

MAX_AHEAD_SECONDS = 5  # of this machine's clock
UNDATED = -1
_TIME = "changedAt"


class Change(NamedTuple):
    """An item's new document, or None where it is deleted; the version is its time, microseconds since 1970, and
    UNDATED until it has one: that of its request.
    """

    id: int
    document: dict[str, Any] | None
    version: int = UNDATED

    def __str__(self) -> str:
        return f"item {self.id}"

    @property
    def is_dated(self) -> bool:
        return self.version != UNDATED


class ReadChange(NamedTuple):
    """A change and where it was read."""

    source: str
    line: int
    change: Change


class RefusedChange(NamedTuple):
    """What was read and is no change: where, its id where that is readable, and why."""

    source: str
    line: int
    id: int | None
    refusals: tuple[Refusal, ...]


def read_change(source: str, record: Record, change_of: Callable[[Any], Change]) -> ReadChange | RefusedChange:
    """The change that a record makes by `change_of`, or why it makes none."""
    try:
        return ReadChange(source, record.line, change_of(record.content))
    except ItemRefusedError as error:
        return RefusedChange(source, record.line, readable_id(record.content), error.refusals)


def upsert_of(content: bytes | Mapping[str, Any] | ItemRefusedError, platform: Platform) -> Change:
    """The change that puts an item; raises ItemRefusedError."""
    item = checked_item(content)
    version = UNDATED if item.changed_at is None else checked_version(item.changed_at)
    return Change(item.id, index_document(item, platform), version)


def delete_of(content: bytes | Mapping[str, Any] | ItemRefusedError) -> Change:
    """The change that deletes the id on a line: a whole number, or the `id` of a JSON object, which may say
    `changedAt`; raises ItemRefusedError.
    """
    if isinstance(content, ItemRefusedError):
        raise content
    value: Any = content
    if isinstance(content, bytes):
        try:
            value = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            reason = "must be a whole number or a JSON object with an id"
            raise ItemRefusedError((Refusal(None, shortened(content.strip()), reason),)) from error
    number = value.get("id") if isinstance(value, Mapping) else value
    if type(number) is not int or not MIN_INTEGER <= number <= MAX_INTEGER:
        raise ItemRefusedError((Refusal("id", shortened(content), "must be a whole number of 64 bits"),))
    timestamp = value.get(_TIME) if isinstance(value, Mapping) else None
    return Change(number, None, UNDATED if timestamp is None else version_of(timestamp))


def version_of(changed_at: object) -> int:
    """The version of a change at this RFC 3339 time; raises ItemRefusedError."""
    try:
        version = microseconds(changed_at)
    except ValueError as error:
        raise ItemRefusedError((Refusal(_TIME, shortened(changed_at), str(error)),)) from error
    return checked_version(version)


def checked_version(version: int) -> int:
    """The same version; raises ItemRefusedError where it is too far ahead."""
    if version > time.time_ns() // 1000 + MAX_AHEAD_SECONDS * 10**6:
        try:
            timestamp = datetime.fromtimestamp(version / 10**6, UTC).isoformat()
        except (ValueError, OverflowError, OSError):  # a number of other units, as of nanoseconds
            timestamp = f"{version} microseconds since 1970"
        reason = f"must be at most {MAX_AHEAD_SECONDS} seconds ahead of the clock here"
        raise ItemRefusedError((Refusal(_TIME, timestamp, reason),))
    return version


class Batch:
    """Changes of different items: of two changes of one item the later one stays, of two at one time the last."""

    def __init__(self) -> None:
        self.reads: dict[int, ReadChange] = {}
        self.superseded = 0

    def __len__(self) -> int:
        return len(self.reads)

    def add(self, read: ReadChange) -> None:
        other = self.reads.get(read.change.id)
        self.superseded += other is not None
        if other is None or _order(read.change) >= _order(other.change):
            self.reads[read.change.id] = read

    def changes(self) -> list[Change]:
        return [read.change for read in self.reads.values()]


def _order(change: Change) -> float:
    return change.version if change.is_dated else float("inf")
