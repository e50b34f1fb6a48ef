"""Callbacks to be made: a dispatcher's room goes in, due work that is leased to it comes out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    case,
    func,
    literal_column,
    null,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders import Order
from store.outbox import same_event
from store.schema import deliveries, order_events, orders, tokens

LONGEST_WAIT: Final = timedelta(hours=48)
"""No delivery waits longer for its next attempt, and none is leased for longer. A row that says so was written by a
clock that was wrong, and is due at once."""

_PENDING: Final[ColumnElement[str]] = literal_column("'pending'")  # literal, as the partial index has it

MOST_LOOKS: Final = 5
"""Of one lease, which is a transaction and on SQLite everybody's lock; who is not seen by then is in the next one."""


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


class Room(Protocol):
    """What a dispatcher has room for: `left` more attempts, none of them for whom it calls `crowded`."""

    left: int

    def crowded(self) -> Crowded:
        """Who has a full share, the attempts admitted just now included."""
        ...

    def admit(self, receiver: str, token_id: str) -> bool:
        """Takes one more in, if there is room for it."""
        ...


async def lease(connection: AsyncConnection, now: datetime, seconds: float, room: Room) -> list[DeliveryWork]:
    """Takes due deliveries that there is room for, for `seconds`, longest due first.

    Where a share is full, it looks again for what others have due, so that one receiver's long queue hides nobody's.
    Dispatchers share the rows: PostgreSQL's skip what another one is taking, SQLite's write one after the other.
    """
    until = now + timedelta(seconds=seconds)
    chosen: list[tuple[str, int]] = []
    for _ in range(MOST_LOOKS):
        if room.left <= 0:
            break
        found = (await connection.execute(_candidates(now, room))).all()
        admitted = [(row.order_id, row.n) for row in found if room.admit(row.receiver, row.token_id)]
        if admitted:
            await connection.execute(update(deliveries).where(_these(admitted)).values(leased_until=until))
        chosen += admitted
        if len(admitted) == len(found):
            break
    return await _work(connection, _these(chosen), now) if chosen else []


def _candidates(now: datetime, room: Room) -> Select[tuple[str, int, str, str]]:
    return (
        select(deliveries.c.order_id, deliveries.c.n, deliveries.c.receiver, orders.c.token_id)
        .join(orders, orders.c.id == deliveries.c.order_id)
        .where(*_due(now, room.crowded()))
        .order_by(deliveries.c.next_attempt_at)
        .limit(room.left)
        .with_for_update(of=deliveries, skip_locked=True)  # SQLite's compiler leaves it out
    )


def _these(rows: Sequence[tuple[str, int]]) -> ColumnElement[bool]:
    return tuple_(deliveries.c.order_id, deliveries.c.n).in_(rows)


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


def _row(order_id: str, n: int) -> tuple[ColumnElement[bool], ...]:
    return deliveries.c.order_id == order_id, deliveries.c.n == n
