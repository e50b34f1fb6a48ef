"""Lists of orders: whose, which and after which order go in, stored orders come out, newest first."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, false, literal, select, true, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from store.orders.orders import Order
from store.schema import orders


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Real orders or those of a sandbox, and what they must be; None asks for nothing."""

    sandbox: bool
    token_id: str | None = None
    state: str | None = None
    account: str | None = None
    item: int | None = None


@dataclass(frozen=True)
class Place:
    """An order's place in every list: later ones come first, and of one time those with the greater id."""

    created_at: datetime
    id: str


async def newest(connection: AsyncConnection, wanted: Wanted, after: Place | None, limit: int) -> list[Order]:
    """At most `limit` orders that come after this place, or the first ones.

    A place stays valid whatever happens to its order, and orders placed meanwhile do not shift the list.
    """
    conditions = _conditions(wanted)
    if after is not None:
        place = tuple_(literal(after.created_at, orders.c.created_at.type), literal(after.id))
        conditions.append(tuple_(orders.c.created_at, orders.c.id) < place)
    statement = select(orders).where(*conditions).order_by(orders.c.created_at.desc(), orders.c.id.desc()).limit(limit)
    return [Order(**row._mapping) for row in await connection.execute(statement)]


def _conditions(wanted: Wanted) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = [orders.c.sandbox == (true() if wanted.sandbox else false())]
    if wanted.token_id is not None:
        conditions.append(orders.c.token_id == wanted.token_id)
    if wanted.state is not None:
        conditions.append(orders.c.state == wanted.state)
    if wanted.account is not None:
        conditions.append(orders.c.account == wanted.account)
    if wanted.item is not None:
        conditions.append(orders.c.item == wanted.item)
    return conditions
