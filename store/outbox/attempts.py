"""Records finished attempts, the state of their deliveries, and makes the next events of their orders due.

Many at once, in a fixed number of statements: one after the other they took longer than the attempts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, delete, func, insert, null, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.outbox.callbacks import lock_subjects, schedule_first
from store.records import Attempt, DeliveryWork
from store.schema import PENDING, deliveries, delivery_attempts, tokens

MAX_ATTEMPTS: Final = 100
"""Attempts of one delivery that are stored: ten rounds of the schedule, which a client may restart without end."""

_SUBJECT: Final = bindparam("of_subject", type_=deliveries.c.order_id.type)
_NUMBER: Final = bindparam("of_number", type_=deliveries.c.n.type)
_LAST: Final = (
    select(func.coalesce(func.max(delivery_attempts.c.attempt), 0))
    .where(delivery_attempts.c.order_id == _SUBJECT, delivery_attempts.c.n == _NUMBER)
    .scalar_subquery()
)
_RECORD: Final = (
    insert(delivery_attempts)
    .values(order_id=_SUBJECT, n=_NUMBER, attempt=_LAST + 1)
    .values({name: bindparam(name) for name in ("at", "outcome", "status_code", "milliseconds")})
)
_STATE: Final = bindparam("new_state", type_=deliveries.c.state.type)
_END: Final = (
    update(deliveries)
    .where(
        deliveries.c.order_id == _SUBJECT,
        deliveries.c.n == _NUMBER,
        PENDING,
        or_(
            _STATE == "delivered",  # whoever holds it
            deliveries.c.leased_until == bindparam("lease", type_=deliveries.c.leased_until.type),
        ),
    )
    .values(
        state=_STATE,
        tries=deliveries.c.tries + 1,
        next_attempt_at=bindparam("next_at", type_=deliveries.c.next_attempt_at.type),
        leased_until=null(),
        last_attempt_at=bindparam("attempted_at", type_=deliveries.c.last_attempt_at.type),
    )
)
_COUNT_FAILED: Final = (
    update(tokens)
    .where(tokens.c.id == bindparam("of_token"))
    .values(callbacks_failed=tokens.c.callbacks_failed + bindparam("given_up"))
)

_same: Final = delivery_attempts.alias("same")
_NEWEST: Final = (
    select(func.max(_same.c.attempt))
    .where(_same.c.order_id == delivery_attempts.c.order_id, _same.c.n == delivery_attempts.c.n)
    .correlate(delivery_attempts)
    .scalar_subquery()
)
_TRIM: Final = delete(delivery_attempts).where(
    tuple_(delivery_attempts.c.order_id, delivery_attempts.c.n).in_(bindparam("full", expanding=True)),
    delivery_attempts.c.attempt <= _NEWEST - bindparam("max_attempts", type_=delivery_attempts.c.attempt.type),
)
"""Drops the oldest attempts of deliveries that have too many."""


@dataclass(frozen=True, kw_only=True)
class FinishedAttempt:
    """An attempt of a leased delivery and what follows: the state, and the next attempt's time while `pending`."""

    work: DeliveryWork
    attempt: Attempt
    state: str
    next_attempt_at: datetime | None


async def record(
    connection: AsyncConnection, finished: Sequence[FinishedAttempt], max_attempts: int = MAX_ATTEMPTS
) -> bool:
    """Records the attempts, and of each delivery its state and when it is tried again; returns whether that made the
    next event of one of their orders due.

    Where the attempt has lost its lease (to another dispatcher or to a replay), or the delivery has ended, only the
    attempt is recorded, and nothing counts as given up. What was delivered is delivered, whoever holds it.
    """
    if not finished:
        return False
    await lock_subjects(connection, [row.work.subject.id for row in finished])
    changes, failed = list[dict[str, Any]](), Counter[str]()
    for row in finished:
        change = _change(row.work, row.state, row.next_attempt_at, row.attempt.at)
        if row.state == "failed":  # each alone, which tells whether it held its lease; they are few
            failed[row.work.subject.token_id] += (await connection.execute(_END, change)).rowcount
        else:
            changes.append(change)
    if changes:
        await connection.execute(_END, changes)
    await connection.execute(_RECORD, [{**_key(row.work), **vars(row.attempt)} for row in finished])
    full = [(row.work.subject.id, row.work.n) for row in finished if row.work.attempts >= max_attempts]
    if full:
        await connection.execute(_TRIM, {"full": full, "max_attempts": max_attempts})
    if failed.total():  # in one order for all, so that no two wait for each other's
        await connection.execute(
            _COUNT_FAILED, [{"of_token": token_id, "given_up": count} for token_id, count in sorted(failed.items())]
        )
    ended = [row.work.subject.id for row in finished if row.state != "pending"]
    return bool(ended) and await schedule_first(connection, ended, max(row.attempt.at for row in finished))


async def fail(connection: AsyncConnection, work: DeliveryWork, now: datetime) -> bool:
    """Ends a delivery that had all attempts of its round, the last of them unrecorded; returns as `record`.

    Nothing changes where the lease is lost. It writes no attempt: whatever kept those from their record may go on.
    """
    await lock_subjects(connection, [work.subject.id])
    count = (await connection.execute(_END, _change(work, "failed", None, now))).rowcount
    await connection.execute(_COUNT_FAILED, {"of_token": work.subject.token_id, "given_up": count})
    return await schedule_first(connection, [work.subject.id], now)


async def failed_by_token(connection: AsyncConnection) -> dict[str, int]:
    """How many callbacks of real orders were given up, by the token's id."""
    rows = await connection.execute(select(tokens.c.id, tokens.c.callbacks_failed).where(~tokens.c.sandbox))
    return {row.id: row.callbacks_failed for row in rows}


def _key(work: DeliveryWork) -> dict[str, Any]:
    return {"of_subject": work.subject.id, "of_number": work.n}


def _change(work: DeliveryWork, state: str, next_at: datetime | None, attempted_at: datetime) -> dict[str, Any]:
    values = {"new_state": state, "next_at": next_at, "attempted_at": attempted_at, "lease": work.leased_until}
    return {**_key(work), **values}
