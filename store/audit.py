"""The audit: who did what, and when. Rows are written in the transaction of what they tell of, and never change."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Select, insert, literal, null, select, tuple_, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from store.records import Actor
from store.schema import audit, order_events

_ID_BYTES: Final = 12
_INSERT: Final = insert(audit)
_BY: Final = ("actor", "actor_name")
_COMMANDS: Final = select(
    audit.c.at,
    audit.c.id.label("key"),
    literal(0).label("n"),
    *(audit.c[name] for name in (*_BY, "action", "subject", "details")),
    null().label("reason"),
)
_CHANGES: Final = select(
    order_events.c.at,
    order_events.c.order_id.label("key"),
    order_events.c.n,
    *(order_events.c[name] for name in _BY),
    ("order." + order_events.c.state).label("action"),
    order_events.c.order_id.label("subject"),
    literal("{}").label("details"),
    order_events.c.reason,
)


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


async def entries(
    connection: AsyncConnection, since: datetime, after: AuditEntry | None, limit: int
) -> list[AuditEntry]:
    """A page of what commands did, of reads that are recorded and of the changes of orders, oldest first, behind the
    entry `after`. Old changes of orders have no actor.
    """
    # each part limited by itself, so that a page costs a page
    parts = [select(_following(part, since, after, limit).subquery()) for part in (_COMMANDS, _CHANGES)]
    page = union_all(*parts).order_by("at", "key", "n").limit(limit)
    return [
        AuditEntry(
            at=row.at,
            key=(row.key, row.n),
            actor=None if row.actor is None else Actor(row.actor, row.actor_name),
            action=row.action,
            subject=row.subject,
            details=json.loads(row.details) if row.reason is None else {"reason": row.reason},
        )
        for row in await connection.execute(page)
    ]


def _following(part: Select[Any], since: datetime, after: AuditEntry | None, limit: int) -> Select[Any]:
    at, key, n, *_ = part.selected_columns
    statement = part.where(at >= (since if after is None else after.at))
    if after is not None:
        position = tuple_(literal(after.at, at.type), *map(literal, after.key))
        statement = statement.where(tuple_(at, key, n) > position)
    return statement.order_by(at, key, n).limit(limit)
