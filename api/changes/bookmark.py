"""Bookmarks: the log and the change up to which a reader has read. Pure."""

import re
from dataclasses import dataclass

from api.errors import invalid

_TEXT = re.compile(r"([0-9a-f]{16})\.([0-9]{1,18})")


@dataclass(frozen=True)
class Bookmark:
    """The change `seq` of a log, or the place before its first one."""

    segment: str
    seq: int

    def encode(self) -> str:
        """The text for clients, to whom it is opaque."""
        return f"{self.segment}.{self.seq}"


def decode(text: str, field: str = "since") -> Bookmark:
    """The bookmark of a text; raises ApiError `validation_failed`."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise invalid(field, "is no bookmark: send `next` of a response as it is")
    return Bookmark(match[1], int(match[2]))
