"""Lists the callbacks of an order with their attempts, and queues them again."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.outbox.callbacks import lock_subjects, same_event, schedule_first
from store.records import Attempt
from store.schema import PENDING, deliveries, delivery_attempts, order_events, orders


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One callback and its attempts, oldest first. `next_attempt_at` is None where it ended or waits for the one
    before it.
    """

    n: int
    event: str
    state: str
    attempts: list[Attempt]
    next_attempt_at: datetime | None


async def of_order(connection: AsyncConnection, order_id: str, n: int | None = None) -> list[Delivery]:
    """The order's deliveries, or the one of this number, with their attempts."""
    conditions = [] if n is None else [deliveries.c.n == n]
    rows = await connection.execute(
        select(deliveries, order_events.c.state.label("reached"))
        .join(order_events, same_event())
        .where(deliveries.c.order_id == order_id, *conditions)
        .order_by(deliveries.c.n)
    )
    by_number = {
        row.n: Delivery(
            n=row.n, event=f"order.{row.reached}", state=row.state, attempts=[], next_attempt_at=row.next_attempt_at
        )
        for row in rows
    }
    attempts = select(delivery_attempts).where(delivery_attempts.c.order_id == order_id)
    for row in await connection.execute(attempts.order_by(delivery_attempts.c.n, delivery_attempts.c.attempt)):
        if row.n in by_number:
            attempt = Attempt(
                at=row.at, outcome=row.outcome, status_code=row.status_code, milliseconds=row.milliseconds
            )
            by_number[row.n].attempts.append(attempt)
    return list(by_number.values())


async def replay(connection: AsyncConnection, order_id: str, n: int, now: datetime) -> Delivery | None:
    """Makes the delivery again at once, by a new round of the schedule; None where the order has none of this
    number or its address has been erased.
    """
    if not await _requeue(connection, order_id, deliveries.c.n == n, now):
        return None
    return (await of_order(connection, order_id, n))[0]


async def recover(
    connection: AsyncConnection, token_id: str, since: datetime, after: str, limit: int, now: datetime
) -> tuple[int, str | None]:
    """Makes every delivery of the token again at once that is not delivered and whose last attempt was at `since`
    or later. Goes through up to `limit` orders with an id behind `after`; returns how many deliveries, and the id to
    go on after (None at the end).
    """
    missed = and_(deliveries.c.state != "delivered", deliveries.c.last_attempt_at >= since)
    statement = (
        select(orders.c.id)
        .join(deliveries, deliveries.c.order_id == orders.c.id)
        .where(orders.c.token_id == token_id, orders.c.id > after, orders.c.callback_url.is_not(None), missed)
        .distinct()
        .order_by(orders.c.id)
        .limit(limit)
    )
    ids = list(await connection.scalars(statement))
    count = 0
    for order_id in ids:
        count += await _requeue(connection, order_id, missed, now)
    return count, (ids[-1] if len(ids) == limit else None)


async def forget_addresses(connection: AsyncConnection, order_ids: Collection[str]) -> None:
    """Ends the orders' pending deliveries as failed and erases their receivers; the attempts stay as numbers.

    For whoever erases the orders' callback addresses: without it nothing can be made or replayed.
    """
    ended = case((PENDING, "failed"), else_=deliveries.c.state)
    await connection.execute(
        update(deliveries)
        .where(deliveries.c.order_id.in_(order_ids))
        .values(receiver="", state=ended, next_attempt_at=None, leased_until=None)
    )


async def _requeue(connection: AsyncConnection, order_id: str, which: ColumnElement[bool], now: datetime) -> int:
    """Makes these deliveries of the order pending anew, the first of them at once, the others behind it.

    An attempt that is under way loses its lease: its failure must not end or delay the new round.
    """
    await lock_subjects(connection, [order_id])
    addressed = select(orders.c.id).where(orders.c.id == order_id, orders.c.callback_url.is_not(None))
    rows = await connection.execute(
        update(deliveries)
        .where(deliveries.c.order_id.in_(addressed), which)
        .values(state="pending", tries=0, next_attempt_at=None, leased_until=None)
        .returning(deliveries.c.n)
    )
    count = len(rows.all())
    if count:
        await schedule_first(connection, [order_id], now)
    return count
