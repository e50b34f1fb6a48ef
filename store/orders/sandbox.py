"""Sandbox orders: plans the moves that an order makes by itself, and makes them when they are due.

A move is taken by locking its row for the transaction that makes it: workers share the moves, none is made twice,
and what a worker leaves undone by dying is free again with its connection.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders import orders
from store.records import PlannedMove
from store.schema import sandbox_moves


async def plan(connection: AsyncConnection, order_id: str, moves: Sequence[PlannedMove]) -> None:
    """Plans the order's moves, one after the other."""
    if moves:
        rows = [{"order_id": order_id, "n": n, **asdict(move)} for n, move in enumerate(moves, 1)]
        await connection.execute(insert(sandbox_moves), rows)


async def next_due(connection: AsyncConnection) -> datetime | None:
    """When the next move is due; None where none is planned."""
    due_at: datetime | None = (await connection.execute(select(func.min(sandbox_moves.c.due_at)))).scalar_one()
    return due_at


async def move_due(connection: AsyncConnection, now: datetime, limit: int) -> int:
    """Makes the next move of at most `limit` orders for which it is due; returns how many it took up.

    Where somebody moved the order meanwhile, what was planned for it is dropped.
    """
    earlier = sandbox_moves.alias("earlier")
    prior = select(earlier.c.n).where(earlier.c.order_id == sandbox_moves.c.order_id, earlier.c.n < sandbox_moves.c.n)
    due = (
        select(sandbox_moves)
        .where(sandbox_moves.c.due_at <= now, ~prior.exists())
        .order_by(sandbox_moves.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)  # SQLite's compiler leaves it out
    )
    rows = (await connection.execute(due)).all()
    for row in sorted(rows, key=lambda row: str(row.order_id)):
        moved = await orders.move(connection, row.order_id, [row.from_state], row.to_state, row.reason, now)
        done = [sandbox_moves.c.order_id == row.order_id]
        if moved is not None:
            done.append(sandbox_moves.c.n == row.n)
        await connection.execute(delete(sandbox_moves).where(*done))
    return len(rows)
