"""Answers kept for retries: a token, its key and a body's digest go in, the answer of the first such call comes out.

The row is made in the transaction that places the order: a rival's insertion waits for that transaction's end, and a
process that dies within it leaves no row behind.
"""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.conflict import insert_into
from store.schema import idempotency_keys


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What was answered: the order, the JSON text of its 201, and the digest of the body that asked for it."""

    order_id: str
    body_digest: str
    answer: str = field(repr=False)


async def find(connection: AsyncConnection, token_id: str, key: str) -> Kept | None:
    """The answer that is kept for this key of this token."""
    statement = select(idempotency_keys).where(
        idempotency_keys.c.token_id == token_id, idempotency_keys.c.key == key, idempotency_keys.c.answer.is_not(None)
    )
    row = (await connection.execute(statement)).one_or_none()
    return None if row is None else Kept(order_id=row.order_id, body_digest=row.body_digest, answer=row.answer)


async def claim(connection: AsyncConnection, token_id: str, key: str, body_digest: str, now: datetime) -> Kept | None:
    """Takes the key for this transaction, which must `keep` an answer or fail; what is kept already where it is taken.

    Waits for a rival transaction that holds the key: its rollback makes this one the first.
    """
    while True:
        statement = (
            insert_into(connection, idempotency_keys)
            .values(token_id=token_id, key=key, body_digest=body_digest, created_at=now)
            .on_conflict_do_nothing(index_elements=["token_id", "key"])
            .returning(idempotency_keys.c.key)
        )
        if (await connection.execute(statement)).one_or_none() is not None:
            return None
        kept = await find(connection, token_id, key)
        if kept is not None:  # else it was erased in between, for its age
            return kept


async def keep(connection: AsyncConnection, token_id: str, key: str, order_id: str, answer: str) -> None:
    """Keeps the answer under the key that this transaction claimed."""
    statement = (
        update(idempotency_keys)
        .where(idempotency_keys.c.token_id == token_id, idempotency_keys.c.key == key)
        .values(order_id=order_id, answer=answer)
    )
    await connection.execute(statement)


async def erase_older(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Erases at most `limit` keys made before this moment; how many it were."""
    old = (
        select(idempotency_keys.c.token_id, idempotency_keys.c.key)
        .where(idempotency_keys.c.created_at < before)
        .order_by(idempotency_keys.c.created_at)
        .limit(limit)
    )
    rows = (await connection.execute(old)).all()
    for row in rows:
        await connection.execute(
            delete(idempotency_keys).where(
                idempotency_keys.c.token_id == row.token_id,
                idempotency_keys.c.key == row.key,
                idempotency_keys.c.created_at < before,
            )
        )
    return len(rows)
