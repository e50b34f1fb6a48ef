"""Which items active orders bind. Sandbox orders bind none."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import ACTIVE, orders

_BOUND_AMONG: Final = select(orders.c.item).where(
    orders.c.platform == bindparam("of_platform"), orders.c.item.in_(bindparam("items", expanding=True)), ACTIVE
)


async def is_bound(connection: AsyncConnection, platform: int, item: int) -> bool:
    """Whether an active order binds the item."""
    return bool(await bound_among(connection, platform, [item]))


async def bound_among(connection: AsyncConnection, platform: int, items: Collection[int]) -> set[int]:
    """Those of these items, at most 10,000, that active orders bind."""
    rows = await connection.execute(_BOUND_AMONG, {"of_platform": platform, "items": list(items)})
    return set(rows.scalars())


async def bound_items(connection: AsyncConnection, platform: int, after: int | None, limit: int) -> list[int]:
    """A page of at most `limit` bound items of the platform, ascending, behind the item `after`."""
    statement = select(orders.c.item).where(orders.c.platform == platform, ACTIVE)
    if after is not None:
        statement = statement.where(orders.c.item > after)
    rows = await connection.execute(statement.order_by(orders.c.item).limit(limit))
    return list(rows.scalars())
