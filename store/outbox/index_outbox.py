"""The outbox towards the search index: changed items go in, leased work (hide or offer this item) comes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Final

from sqlalchemy import ColumnElement, Executable, bindparam, case, func, null, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.conflict import insert_for
from store.schema import ACTIVE, BEHIND, masks, orders

LEASE_ROWS: Final = 10_000
"""Both databases take 32,766 values in a statement at least; this is well below."""

LONGEST_LEASE: Final = timedelta(seconds=60)
"""No row is leased for longer. One that says so was leased by a clock that was wrong, and is free."""

COMMIT_MARGIN: Final = timedelta(seconds=60)
"""A change carries the time at which its transaction began, and is seen when it commits: at most 30 s later
(store.connection.engine.TRANSACTION_SECONDS). The rest is for clocks that differ between machines."""

_VERSION: Final = bindparam("to", type_=masks.c.version.type)
_LEASE: Final = bindparam("lease", type_=masks.c.leased_until.type)
_APPLIED: Final = (
    update(masks)
    .where(masks.c.platform == bindparam("of"), masks.c.item == bindparam("its"))
    .values(
        applied_version=case((masks.c.applied_version < _VERSION, _VERSION), else_=masks.c.applied_version),
        attempts=0,
        leased_until=case((masks.c.leased_until == _LEASE, null()), else_=masks.c.leased_until),
    )
)
_ANY_BEHIND: Final = select(masks.c.item).where(BEHIND).limit(1)

_NOW: Final = bindparam("now", type_=masks.c.leased_until.type)
_LATEST: Final = bindparam("latest", type_=masks.c.leased_until.type)
_due: Final = (
    select(masks.c.platform, masks.c.item)
    .where(BEHIND, or_(masks.c.leased_until.is_(None), masks.c.leased_until <= _NOW, masks.c.leased_until > _LATEST))
    .order_by(masks.c.updated_at)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)  # SQLite's compiler leaves it out
    .cte("due")
)
_LEASED: Final = (
    update(masks)
    .where(tuple_(masks.c.platform, masks.c.item).in_(select(_due.c.platform, _due.c.item)))
    .values(leased_until=bindparam("until", type_=masks.c.leased_until.type), attempts=masks.c.attempts + 1)
    .returning(masks)
)
_BOUND: Final = select(orders.c.item).where(
    orders.c.platform == bindparam("of"), orders.c.item.in_(bindparam("items", expanding=True)), ACTIVE
)


@dataclass(frozen=True, kw_only=True)
class MaskWork:
    """One item to tell to the index: hide it if `bound`, else offer it.

    `version` only grows and `bound` belongs to it or to a later one, so an index that refuses older versions never
    goes back in time. `attempts` counts the leases since the last success, this one included.
    """

    platform: int
    item: int
    version: int
    bound: bool
    attempts: int
    leased_until: datetime


async def lease(connection: AsyncConnection, now: datetime, seconds: float, limit: int) -> list[MaskWork]:
    """Takes up to `limit` rows that the index does not know yet, oldest change first, for `seconds`.

    Workers share the rows: PostgreSQL's skip what another one is taking, SQLite's write one after the other.
    Raises ValueError for more than LEASE_ROWS, or for longer than LONGEST_LEASE.
    """
    if timedelta(seconds=seconds) > LONGEST_LEASE:
        raise ValueError(f"a lease lasts {LONGEST_LEASE.seconds} s at most, {seconds} were asked for")
    if limit > LEASE_ROWS:
        raise ValueError(f"a lease takes at most {LEASE_ROWS} rows, {limit} were asked for")
    times = {"now": now, "latest": now + LONGEST_LEASE, "until": now + timedelta(seconds=seconds)}
    rows = (await connection.execute(_LEASED, {**times, "most": limit})).all()
    if not rows:
        return []
    # Read after the lease, not within it: what is seen now is as new as the version or newer, never older.
    bound = await _bound(connection, [(row.platform, row.item) for row in rows])
    return [
        MaskWork(
            platform=row.platform,
            item=row.item,
            version=row.version,
            bound=(row.platform, row.item) in bound,
            attempts=row.attempts,
            leased_until=row.leased_until,
        )
        for row in sorted(rows, key=lambda row: (row.platform, row.item))
    ]


async def _bound(connection: AsyncConnection, keys: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of the items (platform, id) that active orders hold.

    One statement a platform: PostgreSQL unrolls an IN of pairs into an expression too deep for its stack.
    """
    held: set[tuple[int, int]] = set()
    for platform in {platform for platform, _ in keys}:
        items = [item for of_platform, item in keys if of_platform == platform]
        found = await connection.execute(_BOUND, {"of": platform, "items": items})
        held.update((platform, item) for item in found.scalars())
    return held


async def applied(connection: AsyncConnection, works: Sequence[MaskWork]) -> None:
    """The index knows the versions of these. A lease that another worker holds by now stays with it."""
    if works:
        rows = [{"to": one.version, "lease": one.leased_until, "of": one.platform, "its": one.item} for one in works]
        await connection.execute(_APPLIED, rows)


async def failed(connection: AsyncConnection, work: MaskWork, now: datetime, retry_after: float) -> None:
    """The index could not be told: the row is free again after `retry_after` seconds, and a newer change of the item
    waits for that too.
    """
    until = now + timedelta(seconds=retry_after)
    await connection.execute(
        update(masks).where(*_row(work), masks.c.leased_until == work.leased_until).values(leased_until=until)
    )


def _row(work: MaskWork) -> tuple[ColumnElement[bool], ...]:
    return masks.c.platform == work.platform, masks.c.item == work.item


async def backlog(connection: AsyncConnection) -> int:
    """How many items the index does not know the present state of."""
    return (await connection.execute(select(func.count()).select_from(masks).where(BEHIND))).scalar_one()


async def any_behind(connection: AsyncConnection) -> bool:
    """Whether there are such items; it costs the same for one and for a hundred thousand."""
    return (await connection.execute(_ANY_BEHIND)).first() is not None


async def touch(connection: AsyncConnection, platform: int, items: Sequence[int], now: datetime) -> None:
    """Has the items told to the index again, whether or not anything changed."""
    if not items:
        return
    fresh = {"platform": platform, "version": 1, "applied_version": 0, "attempts": 0, "updated_at": now}
    # One order for all writers, so that two of them never wait for each other's rows in a ring.
    rows = [{**fresh, "item": item} for item in sorted(set(items))]
    await connection.execute(_touching(connection.dialect.name), rows)


@cache
def _touching(dialect: str) -> Executable:
    insertion = insert_for(dialect, masks)
    return insertion.on_conflict_do_update(
        index_elements=["platform", "item"],
        set_={"version": masks.c.version + 1, "updated_at": insertion.excluded.updated_at},
    )


async def touch_known(connection: AsyncConnection, platform: int, items: Sequence[int], now: datetime) -> int:
    """Has those of these items, at most LEASE_ROWS, told again that were ever ordered; returns how many."""
    statement = select(masks.c.item).where(masks.c.platform == platform, masks.c.item.in_(items))
    known = list((await connection.execute(statement)).scalars())
    await touch(connection, platform, known, now)
    return len(known)


async def changed_since(
    connection: AsyncConnection, platform: int, since: datetime, after: int | None, limit: int
) -> list[int]:
    """Items touched at `since` or later, ascending, at most `limit`; the next page is `after` the last.

    Looks a minute further back (COMMIT_MARGIN), so that no change that was being committed then is missed.
    """
    statement = select(masks.c.item).where(masks.c.platform == platform, masks.c.updated_at >= since - COMMIT_MARGIN)
    if after is not None:
        statement = statement.where(masks.c.item > after)
    rows = await connection.execute(statement.order_by(masks.c.item).limit(limit))
    return list(rows.scalars())
