"""Answers kept for retries: a token, its key and a body's digest go in, the answer of the first such call comes out.

The row is made in the transaction that places the order: a rival's insertion waits for that transaction's end, and a
process that dies within it leaves no row behind. A refusal is counted and never answered again: it only ends the
calls of its key that began before it, so that none of them orders what the client was told it has not got.
"""

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final

from sqlalchemy import Executable, and_, bindparam, delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.conflict import insert_for
from store.connection.errors import Overtaken
from store.schema import idempotency_keys

# Made once: each order runs all of them.
_OWN: Final = (
    idempotency_keys.c.token_id == bindparam("of_token"),
    idempotency_keys.c.key == bindparam("of_key"),
)
_FIND: Final = select(idempotency_keys).where(*_OWN)
_KEEP: Final = update(idempotency_keys).where(*_OWN)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What was answered: the order, the JSON text of its 201, and the digest of the body that asked for it."""

    order_id: str
    body_digest: str
    answer: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of a key: the answer that is kept, and how many of its calls were refused before."""

    kept: Kept | None
    refusals: int


async def find(connection: AsyncConnection, token_id: str, key: str) -> Known:
    """What is known of this key of this token."""
    row = (await connection.execute(_FIND, {"of_token": token_id, "of_key": key})).one_or_none()
    if row is None:
        return Known(kept=None, refusals=0)
    if row.answer is None:
        return Known(kept=None, refusals=row.refusals)
    kept = Kept(order_id=row.order_id, body_digest=row.body_digest, answer=row.answer)
    return Known(kept=kept, refusals=row.refusals)


async def claim(
    connection: AsyncConnection, token_id: str, key: str, body_digest: str, refusals: int, now: datetime
) -> Kept | None:
    """Takes the key for this transaction, which must `keep` an answer, `refuse` or fail; what is kept already where
    it is taken.

    `refusals` is what was known when the call began; raises Overtaken where a call has been refused since. Waits for a
    rival transaction that holds the key: its rollback makes this one the first.
    """
    row = {"token_id": token_id, "key": key, "body_digest": body_digest, "created_at": now, "seen": refusals}
    while True:
        if (await connection.execute(_claiming(connection.dialect.name), row)).one_or_none() is not None:
            return None
        known = await find(connection, token_id, key)
        if known.kept is not None:
            return known.kept
        if known.refusals > refusals:
            raise Overtaken
        # else it was erased in between, for its age


async def keep(connection: AsyncConnection, token_id: str, key: str, order_id: str, answer: str) -> None:
    """Keeps the answer under the key that this transaction claimed."""
    row = {"of_token": token_id, "of_key": key, "order_id": order_id, "answer": answer}
    await connection.execute(_KEEP, row)


async def refuse(connection: AsyncConnection, token_id: str, key: str, now: datetime) -> Kept | None:
    """Notes that a call with this key is refused, which ends those that began before and are still on their way; what
    is kept where one of them has come through. The key stays free for calls that begin from now on.
    """
    row = {"token_id": token_id, "key": key, "body_digest": "", "created_at": now, "refusals": 1}
    if (await connection.execute(_refusing(connection.dialect.name), row)).one_or_none() is not None:
        return None
    return (await find(connection, token_id, key)).kept


@cache
def _claiming(dialect: str) -> Executable:
    insertion = insert_for(dialect, idempotency_keys)
    new = insertion.excluded
    free = and_(idempotency_keys.c.answer.is_(None), idempotency_keys.c.refusals == bindparam("seen"))
    return insertion.on_conflict_do_update(
        index_elements=["token_id", "key"],
        set_={"body_digest": new.body_digest, "created_at": new.created_at},
        where=free,
    ).returning(idempotency_keys.c.key)


@cache
def _refusing(dialect: str) -> Executable:
    insertion = insert_for(dialect, idempotency_keys)
    new = insertion.excluded
    return insertion.on_conflict_do_update(
        index_elements=["token_id", "key"],
        set_={
            "body_digest": new.body_digest,
            "created_at": new.created_at,
            "refusals": idempotency_keys.c.refusals + 1,
        },
        where=idempotency_keys.c.answer.is_(None),
    ).returning(idempotency_keys.c.key)


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
