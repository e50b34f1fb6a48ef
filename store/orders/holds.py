"""Items held without an order: those whose orders a restored database has lost. They are bound like ordered ones."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store import audit
from store.bound_items import bound_among
from store.outbox import index_outbox
from store.records import Actor
from store.schema import held_items

_IS_HELD: Final = select(held_items.c.item).where(
    held_items.c.platform == bindparam("of_platform"), held_items.c.item == bindparam("of_item")
)
# Orders that are being placed end first, and later ones see the holds.
_KEEP_ORDERS_OUT: Final = text("LOCK TABLE orders IN SHARE ROW EXCLUSIVE MODE")


async def is_held(connection: AsyncConnection, platform: int, item: int) -> bool:
    return await connection.scalar(_IS_HELD, {"of_platform": platform, "of_item": item}) is not None


async def list_held(connection: AsyncConnection, platform: int) -> dict[int, datetime]:
    """The held items of the platform, and since when."""
    rows = await connection.execute(
        select(held_items.c.item, held_items.c.held_at)
        .where(held_items.c.platform == platform)
        .order_by(held_items.c.item)
    )
    return {row.item: row.held_at for row in rows}


async def keep(
    connection: AsyncConnection, platform: int, items: Collection[int], actor: Actor, now: datetime
) -> list[int]:
    """Holds those of these items that nothing binds; returns them."""
    if connection.dialect.name == "postgresql":
        await connection.execute(_KEEP_ORDERS_OUT)
    free = sorted(set(items) - await bound_among(connection, platform, items))
    if free:
        rows = [{"platform": platform, "item": item, "held_at": now} for item in free]
        holding = upsert(held_items)
        await connection.execute(holding.on_conflict_do_nothing(index_elements=["platform", "item"]), rows)
        await _publish(connection, platform, free, "item.keep", actor, now)
    return free


async def release(
    connection: AsyncConnection, platform: int, items: Collection[int], actor: Actor, now: datetime
) -> list[int]:
    """Ends the holds of these items; returns those that no order binds, which the index is to offer again."""
    conditions = (held_items.c.platform == platform, held_items.c.item.in_(items))
    await connection.execute(delete(held_items).where(*conditions))
    free = sorted(set(items) - await bound_among(connection, platform, items))
    await _publish(connection, platform, free, "item.release", actor, now)
    return free


async def _publish(
    connection: AsyncConnection, platform: int, items: Collection[int], action: str, actor: Actor, now: datetime
) -> None:
    await index_outbox.enqueue(connection, platform, list(items), now)
    for item in items:
        await audit.record(connection, actor, action, str(item), now, {"platform": platform})
