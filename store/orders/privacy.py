"""Erases personal data from ended orders, by age or by account.

Personal are the account, the e-mail address, the id and the trade link on the platform, the buyer's and the callback
address, what was derived from them (the body's digest and the responses that are stored for retries), and what clients
write freely: code, attribution and the reasons of events. What was ordered, when, for how much and how it went stays.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.outbox.callbacks import lock_subjects
from store.outbox.redelivery import forget_addresses
from store.schema import PENDING, PERSONAL, TO_FORGET, deliveries, idempotency_keys, order_events, orders, tokens
from store.states import ENDED

_ERASED_VALUES: Final[dict[str, str | bool | None]] = {
    "forget": False,
    "account": "",
    "email": "",
    "platform_user_id": None,
    "trade_link": None,
    "success_url": None,
    "failure_url": None,
    "callback_url": None,
    "body_digest": None,
    "code": None,
    "utm_source": None,
    "utm_medium": None,
}


async def owners(connection: AsyncConnection, account: str) -> dict[str, str]:
    """Ids and names of the tokens whose orders are of this account."""
    owner_ids = select(orders.c.token_id).where(orders.c.account == account)
    rows = await connection.execute(
        select(tokens.c.id, tokens.c.name).where(tokens.c.id.in_(owner_ids)).order_by(tokens.c.id)
    )
    return {row.id: row.name for row in rows}


def of_account(account: str, token_ids: Sequence[str]) -> ColumnElement[bool]:
    """The orders of the account, of these tokens, that have its personal data."""
    return and_(orders.c.account == account, orders.c.token_id.in_(token_ids))


def of_ids(order_ids: Sequence[str]) -> ColumnElement[bool]:
    """Those of these orders that have personal data."""
    return and_(orders.c.id.in_(order_ids), orders.c.email != "")


async def mark(connection: AsyncConnection, condition: ColumnElement[bool], limit: int) -> list[str]:
    """Marks at most `limit` of these orders to be forgotten; returns the ids of those that were not marked before."""
    unmarked = and_(condition, ~orders.c.forget)
    selected = list(await connection.scalars(select(orders.c.id).where(unmarked).limit(limit)))
    await lock_subjects(connection, selected)
    statement = update(orders).where(orders.c.id.in_(selected), unmarked).values(forget=True)
    return list(await connection.scalars(statement.returning(orders.c.id)))


async def erase_ended(connection: AsyncConnection, condition: ColumnElement[bool], limit: int) -> list[str]:
    """Erases the personal data of at most `limit` of these orders that are at their end, from which none goes back;
    returns their ids. Callbacks that are not delivered yet never will be.
    """
    statement = select(orders.c.id).where(condition, orders.c.state.in_(ENDED))
    oldest = statement.order_by(orders.c.created_at, orders.c.id).limit(limit)
    order_ids = list(await connection.scalars(oldest))
    await lock_subjects(connection, order_ids)
    await _erase(connection, order_ids)
    return order_ids


async def waiting(connection: AsyncConnection, condition: ColumnElement[bool]) -> dict[str, str]:
    """These orders, with their states."""
    rows = await connection.execute(select(orders.c.id, orders.c.state).where(condition))
    return {row.id: row.state for row in rows}


async def erasable(
    connection: AsyncConnection, before: datetime | None, limit: int, skip: Sequence[str] = ()
) -> list[str]:
    """The ids of at most `limit` orders at their end, without those to skip, whose personal data is to be erased.

    They are unchanged since `before`; with None they were to be forgotten, and their last callback is through.
    """
    statement = select(orders.c.id).where(_is_erasable(before), orders.c.id.not_in(skip))
    return list(await connection.scalars(statement.order_by(orders.c.updated_at).limit(limit)))


async def erase(connection: AsyncConnection, before: datetime | None, order_ids: Sequence[str]) -> list[str]:
    """Erases the personal data of those of these orders that are still to be erased; returns their ids."""
    statement = select(orders.c.id).where(orders.c.id.in_(order_ids), _is_erasable(before))
    ids = list(await connection.scalars(statement.with_for_update(skip_locked=True)))
    await _erase(connection, ids)
    return ids


def _is_erasable(before: datetime | None) -> ColumnElement[bool]:
    if before is not None:
        return and_(PERSONAL, orders.c.updated_at < before)
    undelivered = select(deliveries.c.order_id).where(deliveries.c.order_id == orders.c.id, PENDING).exists()
    return and_(TO_FORGET, ~undelivered)


async def _erase(connection: AsyncConnection, order_ids: Sequence[str]) -> None:
    if not order_ids:
        return
    await connection.execute(update(orders).where(orders.c.id.in_(order_ids)).values(**_ERASED_VALUES))
    of_orders = order_events.c.order_id.in_(order_ids)
    await connection.execute(
        update(order_events).where(of_orders, order_events.c.reason.is_not(None)).values(reason=None)
    )
    await forget_addresses(connection, order_ids)
    await _erase_responses(connection, order_ids)


async def _erase_responses(connection: AsyncConnection, order_ids: Sequence[str]) -> None:
    """A retry still gets its response: it names the order and nothing personal."""
    rows = (await connection.execute(select(idempotency_keys).where(idempotency_keys.c.order_id.in_(order_ids)))).all()
    for row in rows:
        response = json.loads(row.response)
        for order in response["orders"] if "orders" in response else [response["order"]]:
            order.update(account="", code=None)
        await connection.execute(
            update(idempotency_keys)
            # still of this order: the key of a body may have another one by now
            .where(idempotency_keys.c.token_id == row.token_id, idempotency_keys.c.key == row.key)
            .where(idempotency_keys.c.order_id == row.order_id)
            .values(response=json.dumps(response, ensure_ascii=False, separators=(",", ":")))
        )
