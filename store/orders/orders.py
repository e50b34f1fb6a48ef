"""Orders: what a client ordered goes in, stored orders, their events and the bound items come out."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Final

from sqlalchemy import ColumnElement, Executable, and_, case, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.conflict import insert_for
from store.connection.errors import ItemTaken
from store.outbox import callbacks, index_outbox
from store.schema import ACTIVE, RELEASED, STATES, TRIED, order_events, orders

_EVENT: Final = insert(order_events)
_ID_BYTES: Final = 18  # 144 random bits, 24 characters
_STATUS_KEY_BYTES: Final = 24  # 192 random bits, 32 characters


@dataclass(frozen=True, kw_only=True)
class NewOrder:
    """What is known when an order is placed. Amounts are in minor units of `currency`; `platform` is the numeric
    id, `item` a signed 64-bit id, `fee_mode` is `excluded` or `included`. Text must not hold U+0000, which
    PostgreSQL cannot keep. The buyer's data stays out of `repr`.
    """

    token_id: str
    platform: int
    item: int
    item_name: str
    item_image: str | None = None
    account: str
    email: str = field(repr=False)
    platform_user_id: str | None = field(default=None, repr=False)
    trade_link: str | None = field(default=None, repr=False)
    code: str | None = None
    fee_mode: str
    currency: str
    price_minor: int
    fee_minor: int
    total_minor: int
    utm_source: str | None = None
    utm_medium: str | None = None
    success_url: str | None = field(default=None, repr=False)
    failure_url: str | None = field(default=None, repr=False)
    callback_url: str | None = field(default=None, repr=False)
    sandbox: bool = False
    body_digest: str | None = field(default=None, repr=False)
    forget: bool = False


@dataclass(frozen=True, kw_only=True)
class Order(NewOrder):
    """An order as it is stored. `status_key` opens the buyer's page without a token: never log it."""

    id: str
    state: str
    status_key: str = field(repr=False)
    created_at: datetime
    updated_at: datetime

    @property
    def active(self) -> bool:
        """Whether the order binds its item."""
        return self.state not in RELEASED


@dataclass(frozen=True, kw_only=True)
class OrderEvent:
    """One change of an order's state; `n` counts from 1 within the order."""

    order_id: str
    n: int
    state: str
    at: datetime
    reason: str | None


async def place(connection: AsyncConnection, new: NewOrder, now: datetime) -> Order:
    """Stores the order in state `created`, its first event, and that the index must hide the item.

    Raises ItemTaken where another active order holds the item; nothing is written then and the transaction stays
    usable. A sandbox order holds no item, is told to no index, and rivals only with those of its own token.
    """
    order = Order(
        **vars(new),
        id="ord_" + secrets.token_urlsafe(_ID_BYTES),
        state="created",
        status_key=secrets.token_urlsafe(_STATUS_KEY_BYTES),
        created_at=now,
        updated_at=now,
    )
    statement = _insertion(connection.dialect.name, new.sandbox)
    row = (await connection.execute(statement, vars(order))).one_or_none()
    if row is None:
        raise ItemTaken(new.platform, new.item)
    event = {"order_id": order.id, "n": 1, "state": order.state, "at": now, "reason": None}
    await connection.execute(_EVENT, event)
    await callbacks.announce_first(connection, order.id, order.callback_url, now)
    if not new.sandbox:
        await index_outbox.touch(connection, new.platform, [new.item], now)
    return replace(order, created_at=row.created_at, updated_at=row.created_at)


@cache
def _insertion(dialect: str, sandbox: bool) -> Executable:
    """Inserts an order unless its item is held; made once, because of its many columns."""
    claim, active = (["token_id", "platform", "item"], TRIED) if sandbox else (["platform", "item"], ACTIVE)
    statement = insert_for(dialect, orders).on_conflict_do_nothing(index_elements=claim, index_where=active)
    return statement.returning(orders.c.created_at)


async def move(
    connection: AsyncConnection,
    order_id: str,
    from_states: Collection[str],
    to_state: str,
    reason: str | None,
    now: datetime,
) -> Order | None:
    """Moves the order to `to_state` if it is in one of `from_states`, with an event; None if it is not (or unknown).

    Where the item is let go, the index is to be told. Raises ValueError for states that do not exist and for
    leaving a state that let go of the item: somebody else may hold it by now.
    """
    unknown = {*from_states, to_state} - set(STATES)
    if unknown:
        raise ValueError(f"unknown order states: {', '.join(sorted(unknown))}")
    if RELEASED & set(from_states):
        raise ValueError(f"no order leaves {', '.join(sorted(RELEASED & set(from_states)))}: place a new one")
    # a clock that was put back does not turn the order's history around
    not_before = case((orders.c.updated_at > now, orders.c.updated_at), else_=literal(now, orders.c.updated_at.type))
    statement = (
        update(orders)
        .where(orders.c.id == order_id, orders.c.state.in_(sorted(from_states)))
        .values(state=to_state, updated_at=not_before)
        .returning(orders)
    )
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        return None
    order = Order(**row._mapping)
    await _add_event(connection, order_id, to_state, reason, order.updated_at)
    if to_state in RELEASED and not order.sandbox:
        await index_outbox.touch(connection, order.platform, [order.item], now)
    return order


async def get(connection: AsyncConnection, order_id: str) -> Order | None:
    """The order of this id."""
    return await _one(connection, orders.c.id == order_id)


async def get_by_status_key(connection: AsyncConnection, status_key: str) -> Order | None:
    """The order whose page the buyer opens."""
    return await _one(connection, orders.c.status_key == status_key)


async def events(connection: AsyncConnection, order_id: str) -> list[OrderEvent]:
    """The order's changes, oldest first; empty for an unknown order."""
    statement = select(order_events).where(order_events.c.order_id == order_id).order_by(order_events.c.n)
    return [OrderEvent(**row._mapping) for row in await connection.execute(statement)]


async def holder(connection: AsyncConnection, platform: int, item: int, sandbox_of: str | None) -> Order | None:
    """The active order that holds the item; in a sandbox, that of the token whose sandbox it is."""
    if sandbox_of is None:
        return await _one(connection, and_(orders.c.platform == platform, orders.c.item == item, ACTIVE))
    own = orders.c.token_id == sandbox_of
    return await _one(connection, and_(own, orders.c.platform == platform, orders.c.item == item, TRIED))


async def is_bound(connection: AsyncConnection, platform: int, item: int) -> bool:
    """Whether an active order holds the item."""
    statement = select(orders.c.id).where(orders.c.platform == platform, orders.c.item == item, ACTIVE)
    return (await connection.execute(statement)).first() is not None


async def bound_items(connection: AsyncConnection, platform: int, after: int | None, limit: int) -> list[int]:
    """Items of the platform that active orders hold, ascending, at most `limit`; the next page is `after` the last."""
    statement = select(orders.c.item).where(orders.c.platform == platform, ACTIVE)
    if after is not None:
        statement = statement.where(orders.c.item > after)
    rows = await connection.execute(statement.order_by(orders.c.item).limit(limit))
    return list(rows.scalars())


async def bound_among(connection: AsyncConnection, platform: int, items: Collection[int]) -> set[int]:
    """Those of these items, at most 10,000, that active orders hold."""
    statement = select(orders.c.item).where(orders.c.platform == platform, orders.c.item.in_(items), ACTIVE)
    return set((await connection.execute(statement)).scalars())


async def _one(connection: AsyncConnection, condition: ColumnElement[bool]) -> Order | None:
    row = (await connection.execute(select(orders).where(condition))).one_or_none()
    return None if row is None else Order(**row._mapping)


async def _add_event(connection: AsyncConnection, order_id: str, state: str, reason: str | None, now: datetime) -> None:
    """The caller has just written the order's row, whose lock keeps rivals from taking the same number."""
    last = select(func.coalesce(func.max(order_events.c.n), 0)).where(order_events.c.order_id == order_id)
    n = last.scalar_subquery() + 1
    values = {"order_id": order_id, "n": n, "state": state, "at": now, "reason": reason}
    await connection.execute(insert(order_events).values(values))
    await callbacks.announce(connection, order_id, now)
