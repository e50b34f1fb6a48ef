"""Bookmarks: the place up to which a reader has read, as a text that is opaque to clients. Pure."""

import re

from api.errors import invalid
from store.records import Place

_TEXT = re.compile(r"([0-9a-f]{16})\.([0-9]{1,18})")


def encode(place: Place) -> str:
    return f"{place.segment}.{place.seq}"


def decode(text: str, field: str = "since") -> Place:
    """The place of a bookmark; raises ApiError `validation_failed`."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise invalid(field, "is no bookmark: send `next` of a response as it is")
    return Place(match[1], int(match[2]))
