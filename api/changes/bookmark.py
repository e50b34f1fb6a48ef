"""Bookmarks: the position up to which a reader has read, as a text that is opaque to clients. Pure."""

import re

from api.errors import invalid
from store.records import LogPosition

_TEXT = re.compile(r"([0-9a-f]{16})\.([0-9]{1,18})")


def encode(position: LogPosition) -> str:
    return f"{position.segment}.{position.seq}"


def decode(text: str, field: str = "since") -> LogPosition:
    """The position of a bookmark; raises ApiError `validation_failed`."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise invalid(field, "is no bookmark: send `next` of a response as it is")
    return LogPosition(match[1], int(match[2]))
