"""Terms, pins and hides that operators add to a vocabulary. A removed one stays, to be added again as it was."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store import audit
from store.records import Actor
from store.schema import vocabulary_terms

_ID_BYTES: Final = 9
_ALL: Final = select(vocabulary_terms).order_by(vocabulary_terms.c.created_at, vocabulary_terms.c.id)


@dataclass(frozen=True, kw_only=True)
class StoredEntry:
    """A term, a pin or a hide as JSON (`term`), with who added it and when."""

    id: str
    platform: int
    term: str
    author: str | None
    created_at: datetime
    removed_at: datetime | None = None


async def add(connection: AsyncConnection, platform: int, term: str, actor: Actor, now: datetime) -> StoredEntry:
    """Adds an entry and records it in the audit."""
    added = StoredEntry(
        id="term_" + secrets.token_urlsafe(_ID_BYTES), platform=platform, term=term, author=actor.name, created_at=now
    )
    await connection.execute(insert(vocabulary_terms), vars(added))
    await audit.record(connection, actor, "vocabulary.add", added.id, now, {"platform": platform, "term": term})
    return added


async def remove(connection: AsyncConnection, entry_id: str, actor: Actor, now: datetime) -> bool:
    """Removes an entry and records it in the audit; False where none of this id applies."""
    condition = (vocabulary_terms.c.id == entry_id) & vocabulary_terms.c.removed_at.is_(None)
    removed = await connection.execute(update(vocabulary_terms).where(condition).values(removed_at=now))
    if removed.rowcount:
        await audit.record(connection, actor, "vocabulary.remove", entry_id, now)
    return bool(removed.rowcount)


async def read(connection: AsyncConnection, *, removed: bool = False) -> Sequence[StoredEntry]:
    """The entries that apply, those added first before; with `removed` the removed ones too."""
    statement = _ALL if removed else _ALL.where(vocabulary_terms.c.removed_at.is_(None))
    return [StoredEntry(**row) for row in (await connection.execute(statement)).mappings()]
