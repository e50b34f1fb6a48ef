"""Quotas: how many undelivered orders a token may have, in all and for one account."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.errors import QuotaExceeded
from store.records import Order
from store.schema import UNDELIVERED, orders, tokens

_LIMITS: Final = (
    select(tokens.c.max_active, tokens.c.max_active_per_account)
    .where(tokens.c.id == bindparam("of_token"))
    .with_for_update(key_share=True)  # orders refer to the row, and a stronger lock would wait for all of them
)
_OF_TOKEN: Final = (
    select(func.count()).select_from(orders).where(orders.c.token_id == bindparam("of_token"), UNDELIVERED)
)
_OF_ACCOUNT: Final = _OF_TOKEN.where(orders.c.account == bindparam("of_account"))


@dataclass(frozen=True)
class ActiveOrders:
    """The number of a token's orders in one state."""

    token_id: str
    state: str
    count: int


async def check(connection: AsyncConnection, order: Order) -> None:
    """Raises QuotaExceeded where the order just placed is one too many: the transaction must be rolled back then.

    From here to the end of the transaction no other order of the token is counted, so the count is exact: SQLite has
    one writer, and PostgreSQL locks the token's row.
    """
    of = {"of_token": order.token_id}
    total, per_account = (await connection.execute(_LIMITS, of)).one()
    if (await connection.execute(_OF_TOKEN, of)).scalar_one() > total:
        raise QuotaExceeded(total, "token")
    if per_account is not None:
        count = (await connection.execute(_OF_ACCOUNT, {**of, "of_account": order.account})).scalar_one()
        if count > per_account:
            raise QuotaExceeded(per_account, "account")


async def active(connection: AsyncConnection, limit: int) -> Sequence[ActiveOrders]:
    """The numbers of undelivered real orders, by token and state: the `limit` greatest."""
    statement = (
        select(orders.c.token_id, orders.c.state, func.count())
        .where(UNDELIVERED, ~orders.c.sandbox)
        .group_by(orders.c.token_id, orders.c.state)
        .order_by(func.count().desc(), orders.c.token_id)
        .limit(limit)
    )
    return [ActiveOrders(*row) for row in await connection.execute(statement)]
