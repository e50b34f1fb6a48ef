"""The outbox of callbacks: queues a delivery for each change of an order's state.

Called within the transaction of the change, so that there is never one without the other.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.records import Order
from store.schema import PENDING, deliveries, is_pending, order_events, orders, saved_searches

# Built once: each order and each callback runs them.
_ENQUEUE: Final = insert(deliveries)
_ANY_PENDING: Final = select(deliveries.c.n).where(deliveries.c.order_id == bindparam("of_order"), PENDING).limit(1)
_OF_SUBJECTS: Final[BindParameter[Any]] = bindparam("of_subjects", expanding=True)
_LOCKS: Final = [
    select(table.c.id).where(table.c.id.in_(_OF_SUBJECTS)).order_by(table.c.id).with_for_update()
    for table in (orders, saved_searches)
]

_same: Final = deliveries.alias("same")  # the update's own table would be taken for the one of its row
_FIRST: Final = (
    select(func.min(_same.c.n))
    .where(_same.c.order_id == deliveries.c.order_id, is_pending(_same))
    .correlate(deliveries)
    .scalar_subquery()
)
_SCHEDULE_FIRST: Final = (
    update(deliveries)
    .where(deliveries.c.order_id.in_(_OF_SUBJECTS), deliveries.c.n == _FIRST, deliveries.c.next_attempt_at.is_(None))
    .values(next_attempt_at=bindparam("due", type_=deliveries.c.next_attempt_at.type))
)


async def enqueue(connection: AsyncConnection, order: Order, n: int) -> None:
    """Queues the order's newest event for its callback address; nothing where it has none.

    The caller holds the lock of the order's row. Behind an event that is still pending the new one waits.
    """
    if order.callback_url is None:
        return
    has_earlier = n > 1 and (await connection.execute(_ANY_PENDING, {"of_order": order.id})).first() is not None
    due_at = None if has_earlier else order.updated_at
    await connection.execute(_ENQUEUE, pending_row(order.id, n, order.callback_url, due_at))


def pending_row(subject_id: str, n: int, url: str, at: datetime | None) -> dict[str, object]:
    """A new row of `deliveries`, due at this time. Its receiver is the host and port as the URL names them, in lower
    case, without user info.
    """
    receiver = urlsplit(url).netloc.rpartition("@")[2].lower()
    row = {"order_id": subject_id, "n": n, "receiver": receiver, "state": "pending", "tries": 0}
    return {**row, "next_attempt_at": at}


async def lock_subjects(connection: AsyncConnection, subject_ids: Collection[str]) -> None:
    """Locks these orders and saved searches: whoever changes which of their deliveries is first holds this, as the
    writer of their events does.

    All take the locks in one order, so that no two wait for each other's. SQLite's writers have all of its file.
    """
    if connection.dialect.name == "sqlite":
        return
    for lock in _LOCKS:
        await connection.execute(lock, {"of_subjects": sorted(set(subject_ids))})


async def schedule_first(connection: AsyncConnection, subject_ids: Collection[str], now: datetime) -> bool:
    """Makes the first pending delivery of each order and saved search due now, unless it has a time already; returns
    whether there is one.
    """
    scheduled = await connection.execute(_SCHEDULE_FIRST, {"of_subjects": sorted(set(subject_ids)), "due": now})
    return scheduled.rowcount > 0


def same_event() -> ColumnElement[bool]:
    """The condition that joins a delivery to its event."""
    return and_(order_events.c.order_id == deliveries.c.order_id, order_events.c.n == deliveries.c.n)
