"""What tables are made of: times, and indexes of some rows.

Times are UTC, whole microseconds since 1970 in a BIGINT, so that both databases keep and compare the same number.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Column, ColumnElement, Index, TextClause
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Instant(TypeDecorator[datetime]):
    """An aware datetime in Python, whole microseconds since 1970-01-01T00:00Z in the database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Refuses naive times: they do not say which moment they mean."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without time zone was given to the store: give an aware datetime")
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        return None if value is None else _EPOCH + value * _MICROSECOND


def partial_index(name: str, where: ColumnElement[bool] | TextClause, *on: Column[Any], unique: bool = False) -> None:
    """Adds an index of the rows that meet a condition to their table, on both databases."""
    Index(name, *on, unique=unique, sqlite_where=where, postgresql_where=where)
