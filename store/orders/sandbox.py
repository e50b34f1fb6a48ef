"""Sandbox orders: plans the moves that an order makes by itself, and makes them when they are due.

A move is taken by locking its row for the transaction that makes it: workers share the moves, none is made twice,
and what a worker leaves undone by dying is free again with its connection.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import ColumnElement, delete, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders import orders
from store.records import PlannedMove
from store.schema import sandbox_moves


async def plan(connection: AsyncConnection, order_id: str, moves: Sequence[PlannedMove]) -> None:
    if moves:
        rows = [{"order_id": order_id, "n": n, **asdict(move)} for n, move in enumerate(moves, 1)]
        await connection.execute(insert(sandbox_moves), rows)


async def due(connection: AsyncConnection, now: datetime, limit: int, skip: Sequence[str] = ()) -> list[str]:
    """The ids of at most `limit` orders whose next move is due, without those to skip."""
    statement = select(sandbox_moves.c.order_id).where(*_due(now), sandbox_moves.c.order_id.not_in(skip))
    return list((await connection.execute(statement.order_by(sandbox_moves.c.due_at).limit(limit))).scalars())


async def move_due(connection: AsyncConnection, now: datetime, order_ids: Sequence[str]) -> list[str]:
    """Makes the next move of those of these orders for which it is due; returns the ids of those it took up.

    Where somebody moved the order meanwhile, what was planned for it is dropped.
    """
    statement = select(sandbox_moves).where(sandbox_moves.c.order_id.in_(order_ids), *_due(now))
    # SQLite's compiler leaves the lock out
    rows = (await connection.execute(statement.with_for_update(skip_locked=True))).all()
    for row in sorted(rows, key=lambda row: str(row.order_id)):
        moved = await orders.move(connection, row.order_id, [row.from_state], row.to_state, row.reason, now)
        done = [sandbox_moves.c.order_id == row.order_id]
        if moved is not None:
            done.append(sandbox_moves.c.n == row.n)
        await connection.execute(delete(sandbox_moves).where(*done))
    return [row.order_id for row in rows]


def _due(now: datetime) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The moves that are due and have none of the same order before them."""
    earlier = sandbox_moves.alias("earlier")
    prior = select(earlier.c.n).where(earlier.c.order_id == sandbox_moves.c.order_id, earlier.c.n < sandbox_moves.c.n)
    return sandbox_moves.c.due_at <= now, ~prior.exists()
