"""Which items are bound: by active orders, or held without one. Sandbox orders bind none."""

from collections.abc import Collection
from typing import Any, Final

from sqlalchemy import BindParameter, Select, bindparam, select, union
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import ACTIVE, held_items, orders

_ORDERED: Final = select(orders.c.item).where(orders.c.platform == bindparam("of_platform"), ACTIVE)
_HELD: Final = select(held_items.c.item).where(held_items.c.platform == bindparam("of_platform"))
_ITEMS: Final[BindParameter[Any]] = bindparam("items", expanding=True)
_BOUND_AMONG: Final = union(_ORDERED.where(orders.c.item.in_(_ITEMS)), _HELD.where(held_items.c.item.in_(_ITEMS)))


async def bound_among(connection: AsyncConnection, platform: int, items: Collection[int]) -> set[int]:
    """Those of these items, at most 10,000, that are bound."""
    return set(await connection.scalars(_BOUND_AMONG, {"of_platform": platform, "items": list(items)}))


async def bound_items(connection: AsyncConnection, platform: int, after: int | None, limit: int) -> list[int]:
    """A page of at most `limit` bound items of the platform, ascending, behind the item `after`."""
    # each part limited by itself, so that a page costs a page
    page = union(*(select(_first(part, after, limit).subquery()) for part in (_ORDERED, _HELD)))
    return list(await connection.scalars(page.order_by("item").limit(limit), {"of_platform": platform}))


def _first(part: Select[tuple[int]], after: int | None, limit: int) -> Select[tuple[int]]:
    item = part.selected_columns.item
    following = part if after is None else part.where(item > after)
    return following.order_by(item).limit(limit)
