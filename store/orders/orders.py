"""Places orders, moves them from state to state, and finds and lists them."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, case, delete, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.errors import ItemTaken
from store.newest import Position, page_after
from store.orders import holds
from store.outbox import callbacks, index_outbox
from store.records import SYSTEM, Actor, NewOrder, Order, OrderEvent
from store.schema import ACTIVE, ACTIVE_SANDBOX, UNDELIVERED, order_events, orders
from store.states import RELEASED

_EVENT: Final = insert(order_events)
# Built once, because of their many columns. They insert an order unless its item is bound.
_PLACE: Final = (
    upsert(orders)
    .on_conflict_do_nothing(index_elements=["platform", "item"], index_where=ACTIVE)
    .returning(orders.c.created_at)
)
_TRY: Final = (
    upsert(orders)
    .on_conflict_do_nothing(index_elements=["token_id", "platform", "item"], index_where=ACTIVE_SANDBOX)
    .returning(orders.c.created_at)
)
_ID_BYTES: Final = 18  # 144 random bits, 24 characters
_STATUS_KEY_BYTES: Final = 24  # 192 random bits, 32 characters


@dataclass(frozen=True, kw_only=True)
class OrderFilter:
    """Which orders a list shows: real ones or those of a sandbox, and what they must be; None does not filter."""

    sandbox: bool
    token_id: str | None = None
    state: str | None = None
    account: str | None = None
    item: int | None = None


async def place(connection: AsyncConnection, new: NewOrder, now: datetime, token_name: str | None = None) -> Order:
    """Stores the order in state `created`, its first event, whose actor is its token, and that the index must hide the
    item.

    Raises ItemTaken where another active order binds the item, or it is held; nothing is written then and the
    transaction stays usable. A sandbox order binds no item, reaches no index, and competes only with those of its own
    token.
    """
    order = Order(
        **vars(new),
        id="ord_" + secrets.token_urlsafe(_ID_BYTES),
        state="created",
        status_key=secrets.token_urlsafe(_STATUS_KEY_BYTES),
        created_at=now,
        updated_at=now,
    )
    row = (await connection.execute(_TRY if new.sandbox else _PLACE, vars(order))).one_or_none()
    if row is None:
        raise ItemTaken(new.platform, new.item)
    # after the insertion, which waits for a hold that is being made
    if not new.sandbox and await holds.is_held(connection, new.platform, new.item):
        await connection.execute(delete(orders).where(orders.c.id == order.id))
        raise ItemTaken(new.platform, new.item)
    actor = {"actor": new.token_id, "actor_name": token_name}
    event = {"order_id": order.id, "n": 1, "state": order.state, "at": now, "reason": None, **actor}
    await connection.execute(_EVENT, event)
    await callbacks.enqueue(connection, order, 1)
    if not new.sandbox:
        await index_outbox.enqueue(connection, new.platform, [new.item], now)
    return replace(order, created_at=row.created_at, updated_at=row.created_at)


async def move(
    connection: AsyncConnection,
    order_id: str,
    from_states: Collection[str],
    to_state: str,
    reason: str | None,
    now: datetime,
    actor: Actor = SYSTEM,
) -> Order | None:
    """Moves the order to `to_state` if it is in one of `from_states`, with an event; None if it is not (or unknown).

    Where that releases the item, the index is to offer it again. Raises ValueError for leaving a state that released
    the item: somebody else may have ordered it by now.
    """
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
    # the order's row is written, and its lock keeps rivals from taking the same number
    last = select(func.coalesce(func.max(order_events.c.n), 0)).where(order_events.c.order_id == order_id)
    event = {"order_id": order_id, "n": last.scalar_subquery() + 1, "state": to_state, "at": order.updated_at}
    by = {"reason": reason, "actor": actor.id, "actor_name": actor.name}
    recorded = await connection.execute(_EVENT.values({**event, **by}).returning(order_events.c.n))
    await callbacks.enqueue(connection, order, recorded.scalar_one())
    if to_state in RELEASED and not order.sandbox:
        await index_outbox.enqueue(connection, order.platform, [order.item], now)
    return order


async def get(connection: AsyncConnection, order_id: str) -> Order | None:
    return await _find(connection, orders.c.id == order_id)


async def get_by_status_key(connection: AsyncConnection, status_key: str) -> Order | None:
    """The order whose page the buyer opens."""
    return await _find(connection, orders.c.status_key == status_key)


async def events(connection: AsyncConnection, order_id: str) -> list[OrderEvent]:
    """The order's changes, oldest first; empty for an unknown order."""
    statement = select(order_events).where(order_events.c.order_id == order_id).order_by(order_events.c.n)
    return [OrderEvent(**row._mapping) for row in await connection.execute(statement)]


async def any_undelivered(connection: AsyncConnection, order_ids: Collection[str]) -> bool:
    """Whether one of these orders is `created` or `processing`."""
    statement = select(orders.c.id).where(orders.c.id.in_(order_ids), UNDELIVERED).limit(1)
    return (await connection.execute(statement)).one_or_none() is not None


async def active_order(connection: AsyncConnection, platform: int, item: int, sandbox_of: str | None) -> Order | None:
    """The active order of the item; in a sandbox, that of the token whose sandbox it is."""
    active = ACTIVE if sandbox_of is None else and_(orders.c.token_id == sandbox_of, ACTIVE_SANDBOX)
    return await _find(connection, and_(orders.c.platform == platform, orders.c.item == item, active))


async def list_newest(
    connection: AsyncConnection, order_filter: OrderFilter, after: Position | None, limit: int
) -> list[Order]:
    """A page of at most `limit` orders after a position, or the first page."""
    conditions = [orders.c[name] == value for name, value in vars(order_filter).items() if value is not None]
    statement = page_after(orders, conditions, after, limit)
    return [Order(**row._mapping) for row in await connection.execute(statement)]


async def _find(connection: AsyncConnection, condition: ColumnElement[bool]) -> Order | None:
    row = (await connection.execute(select(orders).where(condition))).one_or_none()
    return None if row is None else Order(**row._mapping)
