"""Callbacks to be made: due work is leased and its outcome noted here; what was tried comes out for who asks."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Row,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    null,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders import Order
from store.outbox import free_first, lock_order, same_event
from store.schema import PENDING, deliveries, delivery_attempts, order_events, orders, tokens

LONGEST_WAIT: Final = timedelta(hours=48)
"""No delivery waits longer for its next attempt, and none is leased for longer. A row that says so was written by a
clock that was wrong, and is due at once."""

_PENDING: Final[ColumnElement[str]] = literal_column("'pending'")  # literal, as the partial index has it

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
    .returning(delivery_attempts.c.attempt)
)


@dataclass(frozen=True, kw_only=True)
class DeliveryWork:
    """One callback to make: the order as it was at its event `n`, and the secrets that sign it, newest first.

    `tries` counts the finished attempts of this round.
    """

    order: Order
    n: int
    receiver: str
    secrets: tuple[str, ...] = field(repr=False)
    tries: int
    leased_until: datetime


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """How one attempt ended: `outcome` is one of store.schema.OUTCOMES; no word of the other side is kept."""

    at: datetime
    outcome: str
    status_code: int | None
    milliseconds: int


@dataclass(frozen=True, kw_only=True)
class Crowded:
    """Receivers and tokens (by id) that have as many attempts under way as they may have."""

    receivers: Collection[str] = ()
    tokens: Collection[str] = ()


async def any_due(connection: AsyncConnection, now: datetime, crowded: Crowded) -> bool:
    """Whether `lease` would find something."""
    statement = select(deliveries.c.n).join(orders, orders.c.id == deliveries.c.order_id).where(*_due(now, crowded))
    return (await connection.execute(statement.limit(1))).first() is not None


async def lease(
    connection: AsyncConnection,
    now: datetime,
    seconds: float,
    limit: int,
    crowded: Crowded,
    admit: Callable[[str, str], bool],
) -> list[DeliveryWork]:
    """Takes up to `limit` due deliveries for `seconds`, longest due first.

    `admit` is asked with the receiver and the token's id whether there is room for one more of theirs. Dispatchers
    share the rows: PostgreSQL's skip what another one is taking, SQLite's write one after the other.
    """
    candidates = (
        select(deliveries.c.order_id, deliveries.c.n, deliveries.c.receiver, orders.c.token_id)
        .join(orders, orders.c.id == deliveries.c.order_id)
        .where(*_due(now, crowded))
        .order_by(deliveries.c.next_attempt_at)
        .limit(limit)
        .with_for_update(of=deliveries, skip_locked=True)  # SQLite's compiler leaves it out
    )
    found = (await connection.execute(candidates)).all()
    chosen = [(row.order_id, row.n) for row in found if admit(row.receiver, row.token_id)]
    if not chosen:
        return []
    until = now + timedelta(seconds=seconds)
    taken = tuple_(deliveries.c.order_id, deliveries.c.n).in_(chosen)
    await connection.execute(update(deliveries).where(taken).values(leased_until=until))
    return await _work(connection, taken, now)


async def finish(
    connection: AsyncConnection, work: DeliveryWork, attempt: Attempt, state: str, next_attempt_at: datetime | None
) -> bool:
    """Notes an attempt and what follows: the delivery's state, and when it is tried again while that is `pending`.

    False where another dispatcher holds the delivery by now (the lease ran out) or it has ended: only the attempt is
    noted then. What was delivered is delivered, whoever holds it.
    """
    await lock_order(connection, work.order.id)
    row = _row(work.order.id, work.n)
    held = () if state == "delivered" else (deliveries.c.leased_until == work.leased_until,)
    statement = (
        update(deliveries)
        .where(*row, PENDING, *held)
        .values(
            state=state,
            tries=deliveries.c.tries + 1,
            next_attempt_at=next_attempt_at,
            leased_until=None,
            last_attempt_at=attempt.at,
        )
        .returning(deliveries.c.n)
    )
    changed = (await connection.execute(statement)).first() is not None
    await _note(connection, work, attempt)
    if changed and state != "pending":
        await free_first(connection, work.order.id, attempt.at)
    return changed


async def give_back(connection: AsyncConnection, work: DeliveryWork) -> None:
    """Ends the lease of a delivery that was not attempted to the end; it is due at once."""
    held = deliveries.c.leased_until == work.leased_until
    await connection.execute(update(deliveries).where(*_row(work.order.id, work.n), held).values(leased_until=None))


async def backlog(connection: AsyncConnection, now: datetime) -> tuple[int, datetime | None]:
    """How many deliveries are overdue, and since when the oldest one is; those that wait for a retry are not."""
    statement = select(func.count(), func.min(deliveries.c.next_attempt_at)).where(*_due(now, Crowded()))
    overdue, oldest = (await connection.execute(statement.select_from(deliveries))).one()
    return overdue, oldest


def _due(now: datetime, crowded: Crowded) -> tuple[ColumnElement[bool], ...]:
    earlier = deliveries.alias("earlier")
    first = ~(
        select(earlier.c.n)
        .where(earlier.c.order_id == deliveries.c.order_id, earlier.c.n < deliveries.c.n, earlier.c.state == _PENDING)
        .exists()
    )
    latest = now + LONGEST_WAIT
    due = or_(deliveries.c.next_attempt_at <= now, deliveries.c.next_attempt_at > latest)
    until = deliveries.c.leased_until
    free = or_(until.is_(None), until <= now, until > latest)
    elsewhere = []
    if crowded.receivers:
        elsewhere.append(deliveries.c.receiver.not_in(sorted(crowded.receivers)))
    if crowded.tokens:
        elsewhere.append(orders.c.token_id.not_in(sorted(crowded.tokens)))
    return deliveries.c.state == _PENDING, due, free, first, *elsewhere


async def _work(connection: AsyncConnection, taken: ColumnElement[bool], now: datetime) -> list[DeliveryWork]:
    previous = case((tokens.c.previous_webhook_secret_until > now, tokens.c.previous_webhook_secret), else_=null())
    rows = await connection.execute(
        select(
            orders,
            *(column.label(f"delivery_{column.name}") for column in deliveries.c),
            order_events.c.state.label("reached"),
            order_events.c.at.label("reached_at"),
            tokens.c.webhook_secret,
            previous.label("previous_secret"),
        )
        .select_from(deliveries)
        .join(orders, orders.c.id == deliveries.c.order_id)
        .join(order_events, same_event())
        .join(tokens, tokens.c.id == orders.c.token_id)
        .where(taken)
    )
    return [_one_work(row) for row in rows]


def _one_work(row: Row[Any]) -> DeliveryWork:
    now_is = Order(**{column.name: row._mapping[column.name] for column in orders.c})
    return DeliveryWork(
        order=replace(now_is, state=row.reached, updated_at=row.reached_at),
        n=row.delivery_n,
        receiver=row.delivery_receiver,
        secrets=tuple(secret for secret in (row.webhook_secret, row.previous_secret) if secret is not None),
        tries=row.delivery_tries,
        leased_until=row.delivery_leased_until,
    )


async def _note(connection: AsyncConnection, work: DeliveryWork, attempt: Attempt) -> None:
    row = {
        "of": work.order.id,
        "its": work.n,
        "at": attempt.at,
        "outcome": attempt.outcome,
        "status_code": attempt.status_code,
        "milliseconds": attempt.milliseconds,
    }
    noted = (await connection.execute(_NOTE, row)).scalar_one()
    if noted > MOST_ATTEMPTS:
        old = (delivery_attempts.c.order_id == work.order.id, delivery_attempts.c.n == work.n)
        await connection.execute(
            delete(delivery_attempts).where(*old, delivery_attempts.c.attempt <= noted - MOST_ATTEMPTS)
        )


def _row(order_id: str, n: int) -> tuple[ColumnElement[bool], ...]:
    return deliveries.c.order_id == order_id, deliveries.c.n == n
