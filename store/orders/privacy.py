"""Erases personal data from ended orders, by age or by account.

Personal are the account, the e-mail address, the id and the trade link on the platform, the buyer's and the callback
address, and what was derived from them: the body's digest and the responses that are stored for retries. What was
ordered, when, for how much and how it went stays.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.outbox.redelivery import forget_address
from store.schema import PENDING, PERSONAL, TO_FORGET, deliveries, idempotency_keys, orders, tokens
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
}


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """Orders whose personal data were erased, and those that keep theirs until their end, with the present state."""

    erased: list[str]
    waiting: dict[str, str]


async def owners(connection: AsyncConnection, account: str) -> dict[str, str]:
    """Ids and names of the tokens whose orders are of this account."""
    own = select(orders.c.token_id).where(orders.c.account == account)
    rows = await connection.execute(
        select(tokens.c.id, tokens.c.name).where(tokens.c.id.in_(own)).order_by(tokens.c.id)
    )
    return {row.id: row.name for row in rows}


async def forget(connection: AsyncConnection, account: str, token_ids: Sequence[str]) -> Erasure:
    """Erases the personal data of the account's orders of these tokens that are at their end; the others are marked,
    and lose theirs once they get there (`erase_forgotten`). Callbacks that are not delivered yet never will be.
    """
    own = (orders.c.account == account, orders.c.token_id.in_(token_ids))
    # the mark comes first: it locks the rows, so that none gets to its end between the two questions
    await connection.execute(update(orders).where(*own).values(forget=True))
    rows = (await connection.execute(select(orders.c.id, orders.c.state).where(*own).order_by(orders.c.id))).all()
    ended = [row.id for row in rows if row.state in ENDED]
    await _erase(connection, ended)
    return Erasure(erased=ended, waiting={row.id: row.state for row in rows if row.state not in ENDED})


async def erase_older(connection: AsyncConnection, before: datetime, limit: int) -> int:
    """Erases the personal data of at most `limit` orders at their end, unchanged since `before`; returns how many."""
    return await _erase_some(connection, and_(PERSONAL, orders.c.updated_at < before), limit)


async def erase_forgotten(connection: AsyncConnection, limit: int) -> int:
    """Erases the personal data of at most `limit` orders that were to be forgotten and are at their end now, as soon as
    their last callback is through; returns how many.
    """
    undelivered = select(deliveries.c.order_id).where(deliveries.c.order_id == orders.c.id, PENDING).exists()
    return await _erase_some(connection, and_(TO_FORGET, ~undelivered), limit)


async def _erase_some(connection: AsyncConnection, condition: ColumnElement[bool], limit: int) -> int:
    candidates = select(orders.c.id).where(condition).order_by(orders.c.updated_at).limit(limit)
    ids = list((await connection.execute(candidates.with_for_update(skip_locked=True))).scalars())
    await _erase(connection, ids)
    return len(ids)


async def _erase(connection: AsyncConnection, ids: Sequence[str]) -> None:
    for order_id in ids:
        await connection.execute(update(orders).where(orders.c.id == order_id).values(**_ERASED_VALUES))
        await forget_address(connection, order_id)
        await _erase_responses(connection, order_id)


async def _erase_responses(connection: AsyncConnection, order_id: str) -> None:
    """A retry still gets its response: it names the order and no account."""
    stored = select(idempotency_keys).where(idempotency_keys.c.order_id == order_id)
    for row in (await connection.execute(stored)).all():
        response = json.loads(row.response)
        response["order"]["account"] = ""
        await connection.execute(
            update(idempotency_keys)
            .where(idempotency_keys.c.token_id == row.token_id, idempotency_keys.c.key == row.key)
            .values(response=json.dumps(response, ensure_ascii=False, separators=(",", ":")))
        )
