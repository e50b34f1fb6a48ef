"""What a follower reads: changes in order, and a position that is committed once they are acknowledged."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from indexer.documents.refusal import ItemRefusedError, Refusal, shortened
from indexer.live.change import Change, delete_of, upsert_of
from mappings.platforms import Platform

DELETED = "deleted"


class Message(NamedTuple):
    """One message: its place (for the rejects file), and the change that it makes or why it makes none."""

    source: str
    line: int
    id: int | None
    change: Change | ItemRefusedError


class Stream(Protocol):
    """A source of messages. All calls come from one thread."""

    name: str

    @property
    def ended(self) -> bool:
        """Whether no more messages will come."""

    def read(self, max_messages: int, seconds: float) -> Sequence[Message]:
        """The next messages: as many as are there, and those that come within so many seconds."""

    def drain(self, max_messages: int) -> Sequence[Message]:
        """What was taken from the source already and cannot be read again; nothing once that is over."""

    def commit(self) -> None:
        """Everything that was read is acknowledged."""

    def lag(self) -> int | None:
        """How many messages are not read yet; None where that cannot be known."""

    def close(self) -> None:
        """Gives the stream back; what was not committed is read again by the next."""


def change_of(content: bytes | ItemRefusedError | dict[str, Any], platform: Platform) -> Change:
    """The change that a line states: an item, or `{"id": 7, "deleted": true}`; raises ItemRefusedError."""
    if not isinstance(content, bytes) or f'"{DELETED}"'.encode() not in content:
        return upsert_of(content, platform)
    try:
        values = orjson.loads(content)
    except orjson.JSONDecodeError:
        values = None
    if not isinstance(values, dict) or DELETED not in values:
        return upsert_of(content, platform)
    deleted = values.pop(DELETED)
    if deleted is True:
        return delete_of(values)
    if deleted in (False, None):
        return upsert_of(values, platform)
    raise ItemRefusedError((Refusal(DELETED, shortened(deleted), "must be true or false"),))
