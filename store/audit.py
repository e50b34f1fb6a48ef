"""The audit: who did what, and when. Rows are written in the transaction of what they tell of, and never change."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Select, Table, insert, literal, select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from store.records import Actor
from store.schema import audit, order_events

_ID_BYTES: Final = 12
_INSERT: Final = insert(audit)


@dataclass(frozen=True, kw_only=True)
class AuditEntry:
    """One thing that was done: `action` such as `token.create` or `order.failed`, `subject` the id of what it was
    done to. `key` orders entries of one moment.
    """

    at: datetime
    key: tuple[str, int]
    actor: Actor | None
    action: str
    subject: str
    details: dict[str, Any]


async def record(
    connection: AsyncConnection, actor: Actor, action: str, subject: str, now: datetime, details: Mapping[str, Any] = {}
) -> None:
    """Writes an entry. `details` must hold nothing secret and nothing personal."""
    row = {
        "id": "aud_" + secrets.token_urlsafe(_ID_BYTES),
        "at": now,
        "actor": actor.id,
        "actor_name": actor.name,
        "action": action,
        "subject": subject,
        "details": json.dumps(dict(details), ensure_ascii=False),
    }
    await connection.execute(_INSERT, row)


async def commands(
    connection: AsyncConnection, since: datetime, after: AuditEntry | None, limit: int
) -> list[AuditEntry]:
    """A page of what commands did and of reads that are recorded, oldest first, behind the entry `after`."""
    rows = await connection.execute(_page(audit, [audit.c.at, audit.c.id], since, after, limit))
    return [
        AuditEntry(
            at=row.at,
            key=(row.id, 0),
            actor=Actor(row.actor, row.actor_name),
            action=row.action,
            subject=row.subject,
            details=json.loads(row.details),
        )
        for row in rows
    ]


async def changes(
    connection: AsyncConnection, since: datetime, after: AuditEntry | None, limit: int
) -> list[AuditEntry]:
    """A page of the changes of orders, oldest first, behind the entry `after`. Old ones have no actor."""
    order = [order_events.c.at, order_events.c.order_id, order_events.c.n]
    rows = await connection.execute(_page(order_events, order, since, after, limit))
    return [
        AuditEntry(
            at=row.at,
            key=(row.order_id, row.n),
            actor=None if row.actor is None else Actor(row.actor, row.actor_name),
            action=f"order.{row.state}",
            subject=row.order_id,
            details={} if row.reason is None else {"reason": row.reason},
        )
        for row in rows
    ]


def _page(
    table: Table, order: Sequence[Column[Any]], since: datetime, after: AuditEntry | None, limit: int
) -> Select[tuple[Any, ...]]:
    """The rows from `since` on behind an entry, in this order: by time, and by the parts of the entry's key."""
    statement = select(table).where(order[0] >= since)
    if after is not None:
        keys = (after.at, *after.key)
        position = tuple_(*(literal(key, column.type) for key, column in zip(keys, order, strict=False)))
        statement = statement.where(tuple_(*order) > position)
    return statement.order_by(*order).limit(limit)
