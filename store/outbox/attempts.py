"""Attempts that have ended: notes go in, and are kept with what follows; the next events of their orders are due.

Many at once, in a fixed number of statements: one after the other they took longer than the attempts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, insert, null, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.outbox.callbacks import free_first, lock_orders
from store.outbox.deliveries import Attempt, DeliveryWork
from store.schema import PENDING, deliveries, delivery_attempts

MOST_ATTEMPTS: Final = 100
"""Attempts of one delivery that are kept: ten rounds of the schedule, which a client may ask for without end."""

_OF: Final = bindparam("of", type_=deliveries.c.order_id.type)
_ITS: Final = bindparam("its", type_=deliveries.c.n.type)
_LAST: Final = (
    select(func.coalesce(func.max(delivery_attempts.c.attempt), 0))
    .where(delivery_attempts.c.order_id == _OF, delivery_attempts.c.n == _ITS)
    .scalar_subquery()
)
_NOTE: Final = (
    insert(delivery_attempts)
    .values(order_id=_OF, n=_ITS, attempt=_LAST + 1)
    .values({name: bindparam(name) for name in ("at", "outcome", "status_code", "milliseconds")})
)
_DELIVERED: Final = (
    update(deliveries)
    .where(deliveries.c.order_id == _OF, deliveries.c.n == _ITS, PENDING)
    .values(
        state=bindparam("ends"),
        tries=deliveries.c.tries + 1,
        next_attempt_at=bindparam("again", type_=deliveries.c.next_attempt_at.type),
        leased_until=null(),
        last_attempt_at=bindparam("tried", type_=deliveries.c.last_attempt_at.type),
    )
)
_ENDED: Final = _DELIVERED.where(deliveries.c.leased_until == bindparam("held", type_=deliveries.c.leased_until.type))

_same: Final = delivery_attempts.alias("same")
_NEWEST: Final = (
    select(func.max(_same.c.attempt))
    .where(_same.c.order_id == delivery_attempts.c.order_id, _same.c.n == delivery_attempts.c.n)
    .correlate(delivery_attempts)
    .scalar_subquery()
)
_TRIM: Final = delete(delivery_attempts).where(
    tuple_(delivery_attempts.c.order_id, delivery_attempts.c.n).in_(bindparam("full", expanding=True)),
    delivery_attempts.c.attempt <= _NEWEST - bindparam("most", type_=delivery_attempts.c.attempt.type),
)
"""Drops the oldest attempts of deliveries that have too many."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """An attempt of a leased delivery, and what follows it: the state, and the next attempt's time while `pending`."""

    work: DeliveryWork
    attempt: Attempt
    state: str
    next_attempt_at: datetime | None


async def keep(connection: AsyncConnection, notes: Sequence[Note]) -> bool:
    """Keeps the attempts, and of each delivery its state and when it is tried again; whether the next event of one of
    their orders is due by that.

    Where another dispatcher holds a delivery by now (the lease ran out), or it has ended, only the attempt is kept.
    What was delivered is delivered, whoever holds it.
    """
    if not notes:
        return False
    await lock_orders(connection, [note.work.order.id for note in notes])
    delivered = [_change(note) for note in notes if note.state == "delivered"]
    ended = [{**_change(note), "held": note.work.leased_until} for note in notes if note.state != "delivered"]
    for statement, rows in ((_DELIVERED, delivered), (_ENDED, ended)):
        if rows:
            await connection.execute(statement, rows)
    await connection.execute(_NOTE, [_attempt(note) for note in notes])
    full = [(note.work.order.id, note.work.n) for note in notes if note.work.attempts >= MOST_ATTEMPTS]
    if full:
        await connection.execute(_TRIM, {"full": full, "most": MOST_ATTEMPTS})
    followed = [note.work.order.id for note in notes if note.state != "pending"]
    return bool(followed) and await free_first(connection, followed, max(note.attempt.at for note in notes))


def _change(note: Note) -> dict[str, Any]:
    of = {"of": note.work.order.id, "its": note.work.n}
    return {**of, "ends": note.state, "again": note.next_attempt_at, "tried": note.attempt.at}


def _attempt(note: Note) -> dict[str, Any]:
    ended = note.attempt
    said = {"outcome": ended.outcome, "status_code": ended.status_code, "milliseconds": ended.milliseconds}
    return {"of": note.work.order.id, "its": note.work.n, "at": ended.at, **said}
