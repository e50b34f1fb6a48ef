"""Leases due callbacks to dispatchers, within their capacity."""

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from sqlalchemy import Row, and_, bindparam, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store import endpoints
from store.endpoints import Endpoint
from store.leases import is_free
from store.outbox.callbacks import lock_subjects, same_event
from store.records import DeliveryWork, Order, SearchMatches
from store.schema import (
    PENDING,
    deliveries,
    delivery_attempts,
    is_pending,
    order_events,
    orders,
    saved_searches,
    search_matches,
    tokens,
    webhook_endpoints,
)

MAX_WAIT: Final = timedelta(hours=48)
"""No delivery waits longer for its next attempt, and none is leased for longer. A row that says so was written by a
clock that was wrong, and is due at once."""

_earlier: Final = deliveries.alias("earlier")
_FIRST: Final = ~(
    select(_earlier.c.n)
    .where(_earlier.c.order_id == deliveries.c.order_id, _earlier.c.n < deliveries.c.n, is_pending(_earlier))
    .exists()
)
_NOW: Final = bindparam("now", type_=deliveries.c.next_attempt_at.type)
_LATEST: Final = bindparam("latest", type_=deliveries.c.next_attempt_at.type)
_DUE: Final = and_(
    PENDING,
    or_(deliveries.c.next_attempt_at <= _NOW, deliveries.c.next_attempt_at > _LATEST),
    is_free(deliveries.c.leased_until, _NOW, _LATEST),
    _FIRST,
)
# A delivery is of an order or of a saved search.
_TOKEN: Final = func.coalesce(orders.c.token_id, saved_searches.c.token_id)
_SANDBOX: Final = func.coalesce(orders.c.sandbox, saved_searches.c.sandbox)
_OF_EITHER: Final = deliveries.outerjoin(orders, orders.c.id == deliveries.c.order_id).outerjoin(
    saved_searches, saved_searches.c.id == deliveries.c.order_id
)
_STOPPED: Final = or_(
    tokens.c.callbacks_stopped_at.is_not(None), and_(orders.c.id.is_(None), tokens.c.revoked_at.is_not(None))
)
"""What is not to be sent any more; callbacks of orders outlast their token."""
_HAS_CAPACITY: Final = and_(
    deliveries.c.receiver.not_in(bindparam("receivers", expanding=True)),
    _TOKEN.not_in(bindparam("tokens", expanding=True)),
    _SANDBOX.not_in(bindparam("sandbox", expanding=True)),
)

# Built once: they run again and again, and building one costs as much as running it.
_ANY_DUE: Final = select(deliveries.c.n).select_from(_OF_EITHER).where(_DUE).limit(1)
_CANDIDATES: Final = (
    select(
        orders,
        *(column.label(f"delivery_{column.name}") for column in deliveries.c),
        *(saved_searches.c[name].label(f"search_{name}") for name in ("name", "callback_url")),
        search_matches.c.at.label("matched_at"),
        search_matches.c.changes,
        _TOKEN.label("its_token"),
        _SANDBOX.label("its_sandbox"),
        order_events.c.state.label("reached"),
        order_events.c.at.label("reached_at"),
        tokens.c.webhook_secret,
        tokens.c.previous_webhook_secret,
        tokens.c.previous_webhook_secret_until,
        select(func.count())
        .where(delivery_attempts.c.order_id == deliveries.c.order_id, delivery_attempts.c.n == deliveries.c.n)
        .correlate(deliveries)
        .scalar_subquery()
        .label("attempts"),
        _STOPPED.label("stopped"),
        select(webhook_endpoints.c.id).where(webhook_endpoints.c.token_id == tokens.c.id).exists().label("endpoints"),
    )
    .select_from(
        _OF_EITHER.outerjoin(order_events, same_event())
        .outerjoin(
            search_matches,
            and_(search_matches.c.search_id == deliveries.c.order_id, search_matches.c.n == deliveries.c.n),
        )
        .join(tokens, tokens.c.id == _TOKEN)
    )
    .where(_DUE)
    .order_by(deliveries.c.next_attempt_at)
    .limit(bindparam("max_rows"))
    .with_for_update(of=deliveries, skip_locked=True)  # SQLite's compiler leaves it out
)
# The same where somebody is saturated: an IN, be it empty, is rendered anew each time.
_ANY_DUE_ELSEWHERE: Final = _ANY_DUE.where(_HAS_CAPACITY)
_CANDIDATES_ELSEWHERE: Final = _CANDIDATES.where(_HAS_CAPACITY)
_TAKE_LEASE: Final = (
    update(deliveries)
    .where(deliveries.c.order_id == bindparam("of_subject"), deliveries.c.n == bindparam("of_number"))
    .values(leased_until=bindparam("until", type_=deliveries.c.leased_until.type), tries=bindparam("tries_before"))
)

MAX_LEASE_QUERIES: Final = 5
"""Of one lease, which is a transaction and on SQLite everybody's lock; the rest is left to the next one."""


@dataclass(frozen=True, kw_only=True)
class Saturated:
    """Receivers, tokens (by id) and kinds of order (real: False) that have as many attempts under way as they may."""

    receivers: Collection[str] = ()
    tokens: Collection[str] = ()
    sandbox: Collection[bool] = ()

    def __bool__(self) -> bool:
        return bool(self.receivers or self.tokens or self.sandbox)


async def any_due(connection: AsyncConnection, now: datetime, saturated: Saturated) -> bool:
    """Whether `lease` would return something."""
    statement = _ANY_DUE_ELSEWHERE if saturated else _ANY_DUE
    return (await connection.execute(statement, _due(now, saturated))).first() is not None


class Capacity(Protocol):
    """A dispatcher's capacity: attempts that may start, none of them for whom it calls `saturated`."""

    @property
    def left(self) -> int:
        """How many attempts may start."""

    def saturated(self) -> Saturated:
        """Who is saturated, the attempts admitted just now included."""

    def admit(self, receiver: str, token_id: str, *, sandbox: bool) -> bool:
        """Counts one more attempt in, if there is capacity for it."""


async def lease(
    connection: AsyncConnection, now: datetime, seconds: float, capacity: Capacity, delays: Sequence[timedelta] = ()
) -> list[DeliveryWork]:
    """Leases due deliveries that there is capacity for, for `seconds`, longest due first; those of tokens whose
    callbacks were stopped need none, and are to be ended.

    A lease that ran out was an attempt that nobody recorded, and counts as one, even where the process died before it
    sent anything. Whoever leases such a delivery has it as long as the schedule's delay after this attempt (`delays`),
    so that one whose attempts are never recorded is repeated no sooner than one that fails.

    Where a receiver or token is saturated, it looks again for what others have due: one long queue hides nobody's.
    Dispatchers share the rows: PostgreSQL's skip what another one is taking, SQLite's write one after the other.
    """
    leased: list[DeliveryWork] = []
    for _ in range(MAX_LEASE_QUERIES):
        if capacity.left <= 0:
            break
        saturated = capacity.saturated()
        statement = _CANDIDATES_ELSEWHERE if saturated else _CANDIDATES
        candidates = (await connection.execute(statement, {**_due(now, saturated), "max_rows": capacity.left})).all()
        rows = [
            row
            for row in candidates
            if row.stopped or capacity.admit(row.delivery_receiver, row.its_token, sandbox=row.its_sandbox)
        ]
        leased += await _works(connection, rows, now, timedelta(seconds=seconds), delays)
        if len(rows) == len(candidates):
            break
    return leased


async def _works(
    connection: AsyncConnection,
    rows: Sequence[Row[Any]],
    now: datetime,
    duration: timedelta,
    delays: Sequence[timedelta],
) -> list[DeliveryWork]:
    """Takes the lease of these deliveries."""
    if not rows:
        return []
    registered = {
        token_id: await endpoints.of_token(connection, token_id)
        for token_id in {row.its_token for row in rows if row.endpoints}
    }
    works: list[DeliveryWork] = []
    for row in rows:
        tries, lasting = row.delivery_tries, duration
        if row.delivery_leased_until is not None:  # the lease before this one ran out
            tries += 1
            lasting = max((duration, *delays[tries : tries + 1]))
        works.append(
            DeliveryWork(
                subject=_matches(row) if row.id is None else _order(row),
                n=row.delivery_n,
                receiver=row.delivery_receiver,
                secrets=_secrets(row, registered.get(row.its_token), now),
                tries=tries,
                attempts=row.attempts,
                leased_until=now + lasting,
                stopped=row.stopped,
            )
        )
    await connection.execute(
        _TAKE_LEASE,
        [
            {"of_subject": work.subject.id, "of_number": work.n, "until": work.leased_until, "tries_before": work.tries}
            for work in works
        ],
    )
    return works


def _secrets(row: Row[Any], registered: Sequence[Endpoint] | None, now: datetime) -> tuple[str, ...]:
    """The token's where it has no endpoints, else the covering endpoint's: none where none covers the address."""
    if registered is None:
        until = row.previous_webhook_secret_until
        return endpoints.signing_secrets(row.webhook_secret, row.previous_webhook_secret, until, now)
    endpoint = endpoints.covering(registered, row.callback_url or row.search_callback_url)
    return () if endpoint is None else endpoint.secrets(now)


async def end(connection: AsyncConnection, subject_ids: Collection[str]) -> None:
    """Ends all pending deliveries of these orders and searches, in a transaction that has leased none: those who record
    attempts lock the order or search before the delivery.
    """
    await lock_subjects(connection, subject_ids)
    condition = deliveries.c.order_id.in_(set(subject_ids))
    ended = {"state": "failed", "next_attempt_at": None, "leased_until": None}
    await connection.execute(update(deliveries).where(condition, PENDING).values(ended))


async def release(connection: AsyncConnection, work: DeliveryWork, due: datetime | None = None) -> None:
    """Ends the lease of a delivery that was not attempted to the end, which counts as no attempt; it is due then, or
    at once.
    """
    row = deliveries.c.order_id == work.subject.id, deliveries.c.n == work.n
    condition = deliveries.c.leased_until == work.leased_until
    values = {"leased_until": None} if due is None else {"leased_until": None, "next_attempt_at": due}
    await connection.execute(update(deliveries).where(*row, condition).values(values))


async def overdue(connection: AsyncConnection, now: datetime) -> tuple[int, datetime | None]:
    """How many deliveries are overdue, and since when the oldest one is; those that wait for a retry are not."""
    statement = select(func.count(), func.min(deliveries.c.next_attempt_at)).select_from(deliveries).where(_DUE)
    count, oldest = (await connection.execute(statement, {"now": now, "latest": now + MAX_WAIT})).one()
    return count, oldest


def _due(now: datetime, saturated: Saturated) -> dict[str, Any]:
    """The values of _DUE, and of _HAS_CAPACITY where anybody is saturated."""
    due: dict[str, Any] = {"now": now, "latest": now + MAX_WAIT}
    if saturated:
        due |= {name: sorted(values) for name, values in vars(saturated).items()}
    return due


def _order(row: Row[Any]) -> Order:
    order = Order(**{column.name: row._mapping[column.name] for column in orders.c})
    return replace(order, state=row.reached, updated_at=row.reached_at)


def _matches(row: Row[Any]) -> SearchMatches:
    return SearchMatches(
        id=row.delivery_order_id,
        name=row.search_name,
        token_id=row.its_token,
        sandbox=row.its_sandbox,
        callback_url=row.search_callback_url,
        at=row.matched_at,
        changes=zlib.decompress(row.changes),
    )
