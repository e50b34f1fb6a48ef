"""Idempotency keys: the response to an order, stored for its retries.

The row is made in the transaction that places the order: a rival's insertion waits for that transaction's end, and a
process that dies within it leaves no row behind. A refusal is counted and not stored: it only ends the
requests of its key that began before it, so that none of them orders what the client was refused.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, TextClause, and_, bindparam, delete, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.errors import Superseded
from store.schema import REFUSED, UNDELIVERED, idempotency_keys, orders

UNKEYED: Final = "\x01cheapest:"
"""Before the digest of a body that came without a key: no client's key begins so."""

_IS_OPEN: Final = and_(
    idempotency_keys.c.key.startswith(UNKEYED),
    select(orders.c.id)
    .where(
        orders.c.token_id == idempotency_keys.c.token_id,
        orders.c.body_digest == idempotency_keys.c.body_digest,
        UNDELIVERED,
    )
    .exists(),
)
"""A body without a key, one of whose orders is not delivered: only this row tells a retry from a new purchase."""

# Built once: each order runs all of them.
_OWN: Final = (idempotency_keys.c.token_id == bindparam("of_token"), idempotency_keys.c.key == bindparam("of_key"))
_FIND: Final = select(idempotency_keys).where(*_OWN)
_FORGET: Final = delete(idempotency_keys).where(*_OWN)
_SAVE: Final = update(idempotency_keys).where(*_OWN)
_INSERT: Final = upsert(idempotency_keys)
_NEW: Final = {name: _INSERT.excluded[name] for name in ("body_digest", "created_at")}
_CLAIM: Final = _INSERT.on_conflict_do_update(
    index_elements=["token_id", "key"],
    set_=_NEW,
    where=and_(
        idempotency_keys.c.response.is_(None),
        idempotency_keys.c.refusals == bindparam("seen_count"),
        idempotency_keys.c.created_at == bindparam("seen_last_at"),
    ),
).returning(idempotency_keys.c.key)
_REFUSE: Final = _INSERT.on_conflict_do_update(
    index_elements=["token_id", "key"],
    set_={**_NEW, "refusals": idempotency_keys.c.refusals + 1},
    where=idempotency_keys.c.response.is_(None),
).returning(idempotency_keys.c.key)


@dataclass(frozen=True, kw_only=True)
class StoredResponse:
    """The order, the JSON text of its 201, and the digest of the body that ordered it."""

    order_id: str
    body_digest: str
    response: str = field(repr=False)


@dataclass(frozen=True)
class Refusals:
    """How many requests of a key were refused, and when the last one was: a row that was erased and made anew may have
    the same count.
    """

    count: int
    last_at: datetime | None


NO_REFUSALS: Final = Refusals(0, None)


async def find(connection: AsyncConnection, token_id: str, key: str) -> tuple[StoredResponse | None, Refusals]:
    """The response that is stored for a key, or its requests that were refused before."""
    row = (await connection.execute(_FIND, {"of_token": token_id, "of_key": key})).one_or_none()
    if row is None:
        return None, NO_REFUSALS
    if row.response is None:
        return None, Refusals(row.refusals, row.created_at)
    stored = StoredResponse(order_id=row.order_id, body_digest=row.body_digest, response=row.response)
    return stored, NO_REFUSALS


async def claim(
    connection: AsyncConnection, token_id: str, key: str, body_digest: str, refusals: Refusals, now: datetime
) -> StoredResponse | None:
    """Claims the key for this transaction, which must `save` a response, `refuse` or fail; the stored response where
    there is one already.

    `refusals` are those when the request began; raises Superseded where a request has been refused since. Waits for a
    rival transaction that holds the key: its rollback makes this one the first.
    """
    row = {"token_id": token_id, "key": key, "body_digest": body_digest, "created_at": now}
    row |= {"seen_count": refusals.count, "seen_last_at": refusals.last_at}
    while True:
        if (await connection.execute(_CLAIM, row)).one_or_none() is not None:
            return None
        stored, refused = await find(connection, token_id, key)
        if stored is not None:
            return stored
        if refused != NO_REFUSALS:
            raise Superseded
        # else it was erased in between, for its age


async def save(connection: AsyncConnection, token_id: str, key: str, order_id: str, response: str) -> None:
    """Stores the response under the key that this transaction claimed."""
    row = {"of_token": token_id, "of_key": key, "order_id": order_id, "response": response}
    await connection.execute(_SAVE, row)


async def forget(connection: AsyncConnection, token_id: str, key: str) -> None:
    """Erases the key with its response, so that this transaction can claim it."""
    await connection.execute(_FORGET, {"of_token": token_id, "of_key": key})


async def refuse(connection: AsyncConnection, token_id: str, key: str, now: datetime) -> StoredResponse | None:
    """Counts a refusal, which ends the key's requests that began before and are still on their way; the stored
    response where one of them has come through. The key stays free for requests that begin from now on.
    """
    row = {"token_id": token_id, "key": key, "body_digest": "", "created_at": now, "refusals": 1}
    if (await connection.execute(_REFUSE, row)).one_or_none() is not None:
        return None
    stored, _ = await find(connection, token_id, key)
    return stored


async def erase_older(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Erases at most `limit` keys made before this moment, but none of open orders that came without one; returns how
    many.
    """
    return await _erase(connection, before, limit, ~_IS_OPEN)


async def erase_refused(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Erases at most `limit` keys whose last request was refused before this moment; returns how many."""
    return await _erase(connection, before, limit, REFUSED)


async def _erase(
    connection: AsyncConnection, before: datetime, limit: int, condition: ColumnElement[bool] | TextClause
) -> int:
    is_older = idempotency_keys.c.created_at < before
    selection = select(idempotency_keys.c.token_id, idempotency_keys.c.key).where(is_older, condition)
    rows = (await connection.execute(selection.order_by(idempotency_keys.c.created_at).limit(limit))).all()
    if rows:
        # a request that has used a key since has made it younger; the other condition would cost as much for each row
        keys = [{"of_token": row.token_id, "of_key": row.key} for row in rows]
        await connection.execute(_FORGET.where(is_older), keys)
    return len(rows)
