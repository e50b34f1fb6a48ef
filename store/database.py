"""The database as a whole: whether it fits this code and its keys, and encrypting its values anew."""

from typing import Final

from sqlalchemy import Column, Table, bindparam, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.encryption import Encrypted, is_encrypted, is_plain
from store.connection.engine import Store
from store.connection.errors import NOT_MIGRATED, StoreUnavailable
from store.schema import REVISION, metadata, tokens


def _encrypted(table: Table) -> list[Column[str]]:
    return [column for column in table.c if isinstance(column.type, Encrypted)]


TABLES: Final = tuple(table for table in metadata.sorted_tables if _encrypted(table))
"""The tables that have encrypted columns; each has a primary key of one text."""


async def check_schema(store: Store) -> None:
    """Raises StoreUnavailable unless the database answers and its schema is as new as this code.

    A newer one has: migrations only add what an older version does not look at, and are run before it is replaced.
    """
    async with store.reading() as connection:
        revisions = (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalars().all()
    if len(revisions) != 1 or revisions[0] < REVISION:
        raise StoreUnavailable(NOT_MIGRATED)


async def check_keys(store: Store) -> None:
    """Raises StoreUnavailable where the database has encrypted values that the keys do not decrypt."""
    encrypted = select(tokens.c.webhook_secret).where(is_encrypted(tokens.c.webhook_secret)).limit(1)
    async with store.reading() as connection:
        (await connection.execute(encrypted)).all()


async def reencrypt(connection: AsyncConnection, table: Table, after: str, limit: int) -> tuple[int, str | None]:
    """Encrypts at most `limit` rows with a primary key behind `after` anew, with the first key.

    Returns how many, and the key to go on after (None at the end). The rows are locked, so that nothing that is erased
    meanwhile comes back; a stronger lock would wait for all orders of a token.
    """
    [key], columns = table.primary_key.columns, _encrypted(table)
    following = select(key, *columns).where(key > after).order_by(key).limit(limit)
    rows = (await connection.execute(following.with_for_update(key_share=True))).all()
    changes = [{"of_row": row[0], **{f"new_{column.name}": row._mapping[column] for column in columns}} for row in rows]
    if changes:
        values = {column.name: bindparam(f"new_{column.name}", type_=column.type) for column in columns}
        await connection.execute(update(table).where(key == bindparam("of_row")).values(values), changes)
    return len(rows), (rows[-1][0] if len(rows) == limit else None)


async def count_plain(connection: AsyncConnection) -> int:
    """How many rows have a value that should be encrypted and is not."""
    count = 0
    for table in TABLES:
        plain = or_(*(is_plain(column) for column in _encrypted(table)))
        count += (await connection.execute(select(func.count()).select_from(table).where(plain))).scalar_one()
    return count
