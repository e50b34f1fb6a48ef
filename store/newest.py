"""Lists by the time of their rows: newest first, and of one time the greater id first, page by page."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, literal, select, tuple_


@dataclass(frozen=True)
class Position:
    """A row's position in its list. It stays valid whatever happens to its row, and rows that are added meanwhile do
    not shift what follows.
    """

    created_at: datetime
    id: str


def page_after(
    table: Table, conditions: list[ColumnElement[bool]], after: Position | None, limit: int
) -> Select[tuple[Any, ...]]:
    """At most `limit` rows after a position, or the first ones."""
    key = tuple_(table.c.created_at, table.c.id)
    if after is not None:
        position = tuple_(literal(after.created_at, table.c.created_at.type), literal(after.id))
        conditions = [*conditions, key < position]
    newest_first = table.c.created_at.desc(), table.c.id.desc()
    return select(table).where(*conditions).order_by(*newest_first).limit(limit)
