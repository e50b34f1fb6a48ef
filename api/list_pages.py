"""Lists, newest first, by page and cursor."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeVar

from fastapi import Query

from api.errors import invalid
from store.newest import Position
from store.records import Order
from store.saved_searches.searches import SavedSearch

DEFAULT_LIMIT: Final = 20
MAX_LIMIT: Final = 100
MAX_CURSOR_CHARACTERS: Final = 100

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CURSOR: Final = re.compile(r"([0-9]{1,17})/((ord|sch)_[A-Za-z0-9_-]{24})")

PageLimit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="how many a page")]
Cursor = Annotated[
    str | None, Query(max_length=MAX_CURSOR_CHARACTERS, description="`nextCursor` of the page before, as it came")
]
Entry = TypeVar("Entry", Order, SavedSearch)


def page_of(entries: Sequence[Entry], limit: int) -> tuple[Sequence[Entry], str | None]:
    """The page, and the cursor of the next one, None at the end; `entries` are one more than the page where there are
    more.
    """
    page = entries[:limit]
    return page, _cursor_of(page[-1]) if len(entries) > limit else None


def position_of(cursor: str | None) -> Position | None:
    """The position that a cursor continues after, None for the first page; raises ApiError `validation_failed` for a
    text that is no cursor.
    """
    if cursor is None:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise invalid("cursor", "is none of ours: leave it out to begin, and send nextCursor as it came")
    return Position(_EPOCH + timedelta(microseconds=int(match[1])), match[2])


def _cursor_of(entry: Order | SavedSearch) -> str:
    """It grants nothing: a list shows what its token may see wherever it begins."""
    microseconds = (entry.created_at - _EPOCH) // timedelta(microseconds=1)
    return f"{microseconds}/{entry.id}"
