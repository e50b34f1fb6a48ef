"""The service's own signing keys: random bytes that all processes on this database share."""

import base64
import secrets
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import signing_keys

_BYTES: Final = 32  # as long as the digest of HMAC-SHA-256: more would add nothing (RFC 2104)


async def find(connection: AsyncConnection, name: str) -> bytes | None:
    """The key of this name; None where there is none yet."""
    statement = select(signing_keys.c.value).where(signing_keys.c.name == name)
    value = (await connection.execute(statement)).scalar_one_or_none()
    return None if value is None else base64.b64decode(value)


async def find_or_create(connection: AsyncConnection, name: str, now: datetime) -> bytes:
    """The key of this name, created where there is none; of several processes at once, one creates it for all."""
    value = base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    statement = upsert(signing_keys).values(name=name, value=value, created_at=now)
    await connection.execute(statement.on_conflict_do_nothing(index_elements=["name"]))
    key = await find(connection, name)
    if key is None:
        raise LookupError(f"the signing key {name!r} was removed while it was created; try again")
    return key
