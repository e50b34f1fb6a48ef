"""Encrypts stored values anew, with the first key, and finds those that are not encrypted."""

from typing import Final

from sqlalchemy import Column, Table, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.encryption import Encrypted, is_plain
from store.schema import metadata


def _encrypted(table: Table) -> list[Column[str]]:
    return [column for column in table.c if isinstance(column.type, Encrypted)]


TABLES: Final = tuple(table for table in metadata.sorted_tables if _encrypted(table))
"""The tables that have encrypted columns; each has a primary key of one text."""


async def reencrypt(connection: AsyncConnection, table: Table, after: str, limit: int) -> tuple[int, str | None]:
    """Encrypts at most `limit` rows with a primary key behind `after` anew; returns how many, and the key to go on
    after (None at the end). The rows are locked, so that nothing that is erased meanwhile comes back.
    """
    [key], columns = table.primary_key.columns, _encrypted(table)
    rows = (
        await connection.execute(select(key, *columns).where(key > after).order_by(key).limit(limit).with_for_update())
    ).all()
    changes = [{"of": row[0], **{f"new_{column.name}": row._mapping[column] for column in columns}} for row in rows]
    if changes:
        values = {column.name: bindparam(f"new_{column.name}", type_=column.type) for column in columns}
        await connection.execute(update(table).where(key == bindparam("of")).values(values), changes)
    return len(rows), (rows[-1][0] if len(rows) == limit else None)


async def count_plain(connection: AsyncConnection) -> int:
    """How many rows have a value that should be encrypted and is not."""
    count = 0
    for table in TABLES:
        plain = or_(*(is_plain(column) for column in _encrypted(table)))
        count += (await connection.execute(select(func.count()).select_from(table).where(plain))).scalar_one()
    return count
