"""Agreement: items in, what the orders and the outbox say about them now out, for comparing the index with both."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import ACTIVE, BEHIND, masks, orders


@dataclass(frozen=True, kw_only=True)
class LateMasks:
    """How many items of a platform the index should have been told about before a moment, and the oldest change."""

    items: int
    since: datetime | None


async def held_among(connection: AsyncConnection, platform: int, items: Sequence[int]) -> set[int]:
    """Those of the items, at most 10,000, that active orders hold."""
    statement = select(orders.c.item).where(orders.c.platform == platform, orders.c.item.in_(items), ACTIVE)
    return set((await connection.execute(statement)).scalars())


async def changed_among(connection: AsyncConnection, platform: int, items: Sequence[int], since: datetime) -> set[int]:
    """Those of the items, at most 10,000, of which something was to be told at `since` or later."""
    statement = select(masks.c.item).where(
        masks.c.platform == platform, masks.c.item.in_(items), masks.c.updated_at >= since
    )
    return set((await connection.execute(statement)).scalars())


async def late_masks(connection: AsyncConnection, platform: int, before: datetime) -> LateMasks:
    """What changed before this moment and has not been told to the index."""
    statement = select(func.count(), func.min(masks.c.updated_at)).where(
        BEHIND, masks.c.platform == platform, masks.c.updated_at < before
    )
    count, oldest = (await connection.execute(statement)).one()
    return LateMasks(items=count, since=oldest)
