"""Moves many orders at once, in batches: those that expire, and those that an operator cancels.

Each is moved by the conditional update of every other move, so whoever moved it first has moved it.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders.orders import move
from store.outbox.callbacks import lock_subjects
from store.records import SYSTEM, Actor, Order
from store.schema import orders

_ORDERS: Final[Select[tuple[str, int, int]]] = select(orders.c.id, orders.c.platform, orders.c.item)


async def oldest_created(connection: AsyncConnection, limit: int, skip: Sequence[str]) -> dict[str, datetime]:
    """When the oldest orders in `created` were placed, at most `limit`, without those to skip; the oldest first."""
    statement = select(orders.c.id, orders.c.created_at).where(orders.c.state == "created", orders.c.id.not_in(skip))
    rows = await connection.execute(statement.order_by(orders.c.created_at).limit(limit))
    return {row.id: row.created_at for row in rows}


async def expire(connection: AsyncConnection, order_ids: Sequence[str], now: datetime) -> list[Order]:
    """Fails those of these orders that are still `created`; returns them. Workers share the orders."""
    due = _ORDERS.where(orders.c.id.in_(order_ids), orders.c.state == "created")
    rows = (await connection.execute(due.with_for_update(skip_locked=True))).all()
    return await _move(connection, rows, "created", "failed", "expired", now)


async def count(connection: AsyncConnection, token_id: str, state: str, account: str | None) -> int:
    """How many orders of the token, and of this account, are in the state."""
    statement = select(func.count()).select_from(orders).where(*_of(token_id, state, account))
    return (await connection.execute(statement)).scalar_one()


async def cancel(
    connection: AsyncConnection,
    token_id: str,
    state: str,
    account: str | None,
    reason: str,
    now: datetime,
    *,
    placed_before: datetime,
    limit: int,
    actor: Actor = SYSTEM,
) -> int | None:
    """Cancels at most `limit` of these orders, the oldest first; returns how many, which are fewer where somebody moves
    one meanwhile. None where none is left.
    """
    conditions = [*_of(token_id, state, account), orders.c.created_at < placed_before]
    rows = (await connection.execute(_ORDERS.where(*conditions).order_by(orders.c.created_at).limit(limit))).all()
    await lock_subjects(connection, [row.id for row in rows])
    return len(await _move(connection, rows, state, "cancelled", reason, now, actor)) if rows else None


def _of(token_id: str, state: str, account: str | None) -> list[ColumnElement[bool]]:
    conditions = [orders.c.token_id == token_id, orders.c.state == state]
    return conditions if account is None else [*conditions, orders.c.account == account]


async def _move(
    connection: AsyncConnection,
    rows: Sequence[Row[tuple[str, int, int]]],
    before: str,
    after: str,
    reason: str,
    now: datetime,
    actor: Actor = SYSTEM,
) -> list[Order]:
    """Moves them in the order of their items, as every writer of the index outbox does: no two wait in a ring."""
    by_item = sorted(rows, key=lambda row: (row.platform, row.item))
    moved = [await move(connection, row.id, [before], after, reason, now, actor) for row in by_item]
    return [order for order in moved if order is not None]
