"""Secrets that sign callbacks: a token goes in, its new secret comes out; the one before stays valid for a while."""

import base64
import secrets
from datetime import datetime
from typing import Final

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.errors import AmbiguousName
from store.schema import tokens

_BYTES: Final = 32  # Standard Webhooks asks for 24 to 64


async def rotate(connection: AsyncConnection, id_or_name: str, old_until: datetime | None) -> tuple[str, str] | None:
    """Gives the token a new secret; returns its id and the secret, None where no token has this id or name.

    The old secret signs too until `old_until`; at once no more where that is None, as after a leak. Only the newest of
    the old ones does. A revoked token is found by its id: its orders still have callbacks. Raises AmbiguousName.
    """
    named = or_(tokens.c.id == id_or_name, (tokens.c.name == id_or_name) & tokens.c.revoked_at.is_(None))
    ids = sorted((await connection.execute(select(tokens.c.id).where(named))).scalars())
    if len(ids) > 1:
        raise AmbiguousName(id_or_name, ids)
    if not ids:
        return None
    secret = "whsec_" + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    kept = {"previous_webhook_secret": tokens.c.webhook_secret if old_until is not None else None}
    await connection.execute(
        update(tokens)
        .where(tokens.c.id == ids[0])
        .values(webhook_secret=secret, previous_webhook_secret_until=old_until, **kept)
    )
    return ids[0], secret
