"""Erases personal data as the retention worker does."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders import privacy


async def erase_batch(connection: AsyncConnection, before: datetime | None, limit: int) -> int:
    """Erases a batch of orders, those to be forgotten with None; returns how many."""
    order_ids = await privacy.erasable(connection, before, limit)
    return len(await privacy.erase(connection, before, order_ids))
