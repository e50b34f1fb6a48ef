"""Checks that a database fits this code: its schema, and its encrypted values."""

from sqlalchemy import select, text

from store.connection.encryption import is_encrypted
from store.connection.engine import Store
from store.connection.errors import NOT_MIGRATED, StoreUnavailable
from store.schema import REVISION, tokens


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
