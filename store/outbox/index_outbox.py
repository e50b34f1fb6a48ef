"""The outbox of the search index: orders enqueue items whose claim changed, workers lease them and tell the index.

A row with applied_version < version is pending. It does not say whether the item is bound: that is read from the orders
when the update is leased. One that has failed MAX_FAILURES times by a fault of ours is set aside: it stays pending, and
is leased again once the item changes, a process starts or an hour has passed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Select, bindparam, case, func, null, or_, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.bound_items import bound_among
from store.leases import is_free
from store.schema import UPDATE_PENDING, index_outbox

MAX_LEASE: Final = timedelta(seconds=60)
"""No row is leased for longer. One that says so was leased by a clock that was wrong, and is free."""

COMMIT_MARGIN: Final = timedelta(seconds=60)
"""A change carries the time at which its transaction began, and is visible when it commits: at most 30 s later
(store.connection.engine.TRANSACTION_SECONDS). The rest is for clocks that differ between machines."""

IN_TRANSIT: Final = timedelta(seconds=60)
"""A change, or its publication, this young may have reached the index between two look-ups."""

MAX_FAILURES: Final = 20
"""Unexpected errors of one update alone, after which it is set aside."""

# Built once: each order runs some of them.
_VERSION: Final = bindparam("applied", type_=index_outbox.c.version.type)
_LEASE: Final = bindparam("lease", type_=index_outbox.c.leased_until.type)
_MARK_APPLIED: Final = (
    update(index_outbox)
    .where(index_outbox.c.platform == bindparam("of_platform"), index_outbox.c.item == bindparam("of_item"))
    .values(
        applied_version=case(
            (index_outbox.c.applied_version < _VERSION, _VERSION), else_=index_outbox.c.applied_version
        ),
        attempts=0,
        failures=0,
        updated_at=bindparam("at", type_=index_outbox.c.updated_at.type),
        leased_until=case((index_outbox.c.leased_until == _LEASE, null()), else_=index_outbox.c.leased_until),
    )
)
_INSERT: Final = upsert(index_outbox)
_ENQUEUE: Final = _INSERT.on_conflict_do_update(
    index_elements=["platform", "item"],
    set_={"version": index_outbox.c.version + 1, "updated_at": _INSERT.excluded.updated_at, "failures": 0},
)
_SET_ASIDE: Final = index_outbox.c.failures >= MAX_FAILURES
_ANY_PENDING: Final = select(index_outbox.c.item).where(UPDATE_PENDING, ~_SET_ASIDE).limit(1)

_NOW: Final = bindparam("now", type_=index_outbox.c.leased_until.type)
_LATEST: Final = bindparam("latest", type_=index_outbox.c.leased_until.type)
_due: Final = (
    select(index_outbox.c.platform, index_outbox.c.item)
    .where(UPDATE_PENDING, ~_SET_ASIDE, is_free(index_outbox.c.leased_until, _NOW, _LATEST))
    .order_by(index_outbox.c.updated_at)
    .limit(bindparam("max_rows"))
    .with_for_update(skip_locked=True)  # SQLite's compiler leaves it out
    .cte("due")
)
_TAKE_LEASE: Final = (
    update(index_outbox)
    .where(tuple_(index_outbox.c.platform, index_outbox.c.item).in_(select(_due.c.platform, _due.c.item)))
    .values(
        leased_until=bindparam("until", type_=index_outbox.c.leased_until.type), attempts=index_outbox.c.attempts + 1
    )
    .returning(
        *(index_outbox.c[name] for name in ("platform", "item", "version", "attempts", "leased_until", "failures"))
    )
)


@dataclass(frozen=True, kw_only=True)
class IndexUpdate:
    """One item to update in the index: hide it if `bound`, else offer it.

    `version` only grows and `bound` belongs to it or to a later one, so an index that refuses older versions never
    goes back in time. `attempts` counts the leases since the last success, this one included.
    """

    platform: int
    item: int
    version: int
    bound: bool
    attempts: int
    leased_until: datetime
    failures: int = 0


async def lease(connection: AsyncConnection, now: datetime, seconds: float, limit: int) -> list[IndexUpdate]:
    """Leases up to `limit` pending updates for `seconds`, MAX_LEASE at most, oldest change first.

    Workers share the rows: PostgreSQL's skip what another one is taking, SQLite's write one after the other.
    """
    times = {"now": now, "latest": now + MAX_LEASE, "until": now + timedelta(seconds=seconds)}
    rows = (await connection.execute(_TAKE_LEASE, {**times, "max_rows": limit})).all()
    # Read after the lease, not within it, so that `bound` is as new as the version or newer, never older. One statement
    # a platform: PostgreSQL unrolls an IN of pairs into an expression too deep for its stack.
    bound = {
        platform: await bound_among(connection, platform, [row.item for row in rows if row.platform == platform])
        for platform in {row.platform for row in rows}
    }
    return [
        IndexUpdate(**row._mapping, bound=row.item in bound[row.platform])
        for row in sorted(rows, key=lambda row: (row.platform, row.item))
    ]


async def mark_applied(connection: AsyncConnection, updates: Sequence[IndexUpdate], now: datetime) -> None:
    """The index has these versions. A lease that another worker holds by now stays with it."""
    if updates:
        rows = [
            {
                "of_platform": applied.platform,
                "of_item": applied.item,
                "applied": applied.version,
                "lease": applied.leased_until,
                "at": now,
            }
            for applied in updates
        ]
        await connection.execute(_MARK_APPLIED, rows)


async def mark_failed(
    connection: AsyncConnection, index_update: IndexUpdate, now: datetime, retry_after: float, *, failures: int = 0
) -> None:
    """The index did not take it: the row is free again after `retry_after` seconds, and newer changes of the item wait
    as long. `failures` is 1 where it failed alone by a fault of ours.
    """
    until = now + timedelta(seconds=retry_after)
    conditions = (
        index_outbox.c.platform == index_update.platform,
        index_outbox.c.item == index_update.item,
        index_outbox.c.leased_until == index_update.leased_until,
    )
    values = {"leased_until": until, "failures": index_outbox.c.failures + failures}
    await connection.execute(update(index_outbox).where(*conditions).values(values))


async def resume(connection: AsyncConnection, failures: int) -> None:
    """Takes up again what is set aside, as if it had failed so often."""
    await connection.execute(update(index_outbox).where(UPDATE_PENDING, _SET_ASIDE).values(failures=failures))


async def pending(
    connection: AsyncConnection, platform: int | None = None, before: datetime | None = None
) -> tuple[int, datetime | None]:
    """How many items the index does not have the present state of, and the oldest change of these; of a platform, and
    of changes before this time, where they are given.
    """
    conditions = [] if platform is None else [index_outbox.c.platform == platform]
    conditions += [] if before is None else [index_outbox.c.updated_at < before]
    statement = select(func.count(), func.min(index_outbox.c.updated_at)).where(UPDATE_PENDING, *conditions)
    count, oldest = (await connection.execute(statement)).one()
    return count, oldest


async def any_pending(connection: AsyncConnection) -> bool:
    """Whether updates are pending, leased or not, that are not set aside: it costs the same for one and for 100,000."""
    return (await connection.execute(_ANY_PENDING)).first() is not None


async def enqueue(connection: AsyncConnection, platform: int, items: Sequence[int], now: datetime) -> None:
    """Queues the items for the index, whether or not anything changed."""
    if not items:
        return
    row = {"platform": platform, "version": 1, "applied_version": 0, "attempts": 0, "updated_at": now}
    # One order for all writers, so that two of them never wait for each other's rows in a ring.
    rows = [{**row, "item": item} for item in sorted(set(items))]
    await connection.execute(_ENQUEUE, rows)


async def enqueue_ever_ordered(connection: AsyncConnection, platform: int, items: Sequence[int], now: datetime) -> int:
    """Queues those of these items, at most 10,000, that were ever ordered; returns how many."""
    ordered = list(await connection.scalars(_among(platform, items)))
    await enqueue(connection, platform, ordered, now)
    return len(ordered)


async def changed_among(connection: AsyncConnection, platform: int, items: Sequence[int], since: datetime) -> set[int]:
    """Those of the items, at most 10,000, that were enqueued or published at `since` or later."""
    return set(await connection.scalars(_among(platform, items).where(index_outbox.c.updated_at >= since)))


async def may_be_bound_among(
    connection: AsyncConnection, platform: int, items: Sequence[int], now: datetime
) -> set[int]:
    """Those of the items, at most 10,000, that the index may bind: bound ones, and those of which it may have an
    earlier state, because a change is pending or was published lately.
    """
    unsettled = or_(UPDATE_PENDING, index_outbox.c.updated_at >= now - IN_TRANSIT)
    expected = set(await connection.scalars(_among(platform, items).where(unsettled)))
    return expected | await bound_among(connection, platform, items)


def _among(platform: int, items: Sequence[int]) -> Select[int]:
    """Those of the items that have a row."""
    return select(index_outbox.c.item).where(index_outbox.c.platform == platform, index_outbox.c.item.in_(items))


async def changed_since(
    connection: AsyncConnection, platform: int, since: datetime, after: int | None, limit: int
) -> list[int]:
    """A page of at most `limit` items enqueued or published at `since` or later, ascending, behind the item `after`.

    Looks a minute further back (COMMIT_MARGIN), so that it misses no change that was being committed then.
    """
    statement = select(index_outbox.c.item).where(
        index_outbox.c.platform == platform, index_outbox.c.updated_at >= since - COMMIT_MARGIN
    )
    if after is not None:
        statement = statement.where(index_outbox.c.item > after)
    return list(await connection.scalars(statement.order_by(index_outbox.c.item).limit(limit)))
