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
class Quota:
    """The most undelivered orders of a token; `per_account` None sets no bound of its own."""

    total: int
    per_account: int | None


@dataclass(frozen=True)
class ActiveOrders:
    """The number of a token's orders in one state."""

    token_id: str
    state: str
    count: int


async def lock(connection: AsyncConnection, token_id: str) -> Quota:
    """The token's quota. Orders of one token are placed one after the other from here to the end of the transaction:
    SQLite has one writer, and PostgreSQL locks the token's row.
    """
    return Quota(*(await connection.execute(_LIMITS, {"of_token": token_id})).one())


async def check(connection: AsyncConnection, quota: Quota, order: Order) -> None:
    """Raises QuotaExceeded where the order just placed is one too many: the transaction must be rolled back then."""
    of = {"of_token": order.token_id}
    if (await connection.execute(_OF_TOKEN, of)).scalar_one() > quota.total:
        raise QuotaExceeded(quota.total, "token")
    if quota.per_account is not None:
        count = (await connection.execute(_OF_ACCOUNT, {**of, "of_account": order.account})).scalar_one()
        if count > quota.per_account:
            raise QuotaExceeded(quota.per_account, "account")


async def active(connection: AsyncConnection) -> Sequence[ActiveOrders]:
    """The numbers of undelivered real orders, by token and state."""
    statement = (
        select(orders.c.token_id, orders.c.state, func.count())
        .where(UNDELIVERED, ~orders.c.sandbox)
        .group_by(orders.c.token_id, orders.c.state)
    )
    return [ActiveOrders(*row) for row in await connection.execute(statement)]
