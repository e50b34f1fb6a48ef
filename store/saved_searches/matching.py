"""The matcher's lease and position, and the callbacks of what it finds, which are committed with its next position."""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.leases import LeaseLostError, Leases
from store.outbox.callbacks import pending_row
from store.records import LogPosition
from store.saved_searches.searches import any_live
from store.schema import PENDING, deliveries, saved_searches, search_matchers, search_matches

LEASES: Final = Leases(search_matchers)
MAX_PENDING: Final = 1000
"""Callbacks of a search that wait for its receiver; further matches are dropped, and set `gap_at`."""
_IDS: Final = 5000  # of one statement

_COUNT: Final = (
    update(saved_searches).where(saved_searches.c.id == bindparam("of_search")).values(matches=bindparam("last"))
)
_MARK_GAP: Final = (
    update(saved_searches)
    .where(saved_searches.c.id == bindparam("of_search"))
    .values(gap_at=bindparam("missed", type_=saved_searches.c.gap_at.type))
)


async def ensure(connection: AsyncConnection, name: str) -> None:
    """Makes the matcher's row where there is none."""
    statement = upsert(search_matchers).values({"name": name, "seq": 0})
    await connection.execute(statement.on_conflict_do_nothing())


async def begin(connection: AsyncConnection, name: str, at: LogPosition, now: datetime) -> None:
    """Puts the matcher at a position where it has none, and where there is nothing before for it to match."""
    await ensure(connection, name)
    is_named = search_matchers.c.name == name
    # locked before searches are looked for: a search that is being saved meanwhile begins at an earlier position
    segment = await connection.scalar(select(search_matchers.c.segment).where(is_named).with_for_update())
    if segment is None or not await any_live(connection, now):
        await connection.execute(update(search_matchers).where(is_named).values(segment=at.segment, seq=at.seq))


async def position(connection: AsyncConnection, name: str) -> LogPosition:
    """The change up to which all searches are matched."""
    row = (await connection.execute(select(search_matchers).where(search_matchers.c.name == name))).one()
    return LogPosition(row.segment, row.seq)


async def advance(connection: AsyncConnection, name: str, before: LogPosition, after: LogPosition) -> None:
    """Moves from one position to the next; raises LeaseLostError where another matcher has gone on from there."""
    at_before = search_matchers.c.segment == before.segment, search_matchers.c.seq == before.seq
    statement = update(search_matchers).where(search_matchers.c.name == name, *at_before)
    moved = await connection.execute(statement.values(segment=after.segment, seq=after.seq))
    if not moved.rowcount:
        raise LeaseLostError


async def mark_gaps(connection: AsyncConnection, search_ids: Sequence[str], now: datetime) -> None:
    """Records that these searches missed a match."""
    if search_ids:
        await connection.execute(_MARK_GAP, [{"of_search": each, "missed": now} for each in sorted(search_ids)])


async def mark_all_gaps(connection: AsyncConnection, now: datetime) -> None:
    """Records that all searches missed a match."""
    is_live = saved_searches.c.removed_at.is_(None)
    # locked in the order of store.outbox.callbacks.lock_subjects, so that no two wait for each other
    await connection.execute(select(saved_searches.c.id).where(is_live).order_by(saved_searches.c.id).with_for_update())
    await connection.execute(update(saved_searches).where(is_live).values(gap_at=now))


async def queue_callbacks(connection: AsyncConnection, matches: Mapping[str, Sequence[bytes]], now: datetime) -> None:
    """Queues callbacks for searches by their id, each with a JSON array of changes.

    Searches that were removed meanwhile get none; those with too many callbacks waiting miss theirs.
    """
    contents: list[dict[str, object]] = []
    queued: list[dict[str, object]] = []
    counts: list[dict[str, object]] = []
    missed: list[str] = []
    ids = sorted(matches)
    for begin in range(0, len(ids), _IDS):
        some = ids[begin : begin + _IDS]
        table = saved_searches.c
        statement = select(table.id, table.callback_url, table.matches).where(
            table.id.in_(some), table.removed_at.is_(None)
        )
        # whoever changes which callback of a search is first holds its row, as of an order
        rows = (await connection.execute(statement.order_by(table.id).with_for_update())).all()
        pending = select(deliveries.c.order_id, func.count()).where(deliveries.c.order_id.in_(some), PENDING)
        waiting = {row[0]: row[1] for row in await connection.execute(pending.group_by(deliveries.c.order_id))}
        for row in rows:
            if waiting.get(row.id, 0) + len(matches[row.id]) > MAX_PENDING:
                missed.append(row.id)
                continue
            for n, changes in enumerate(matches[row.id], row.matches + 1):
                contents.append({"search_id": row.id, "n": n, "at": now, "changes": zlib.compress(changes, 1)})
                is_first = row.id not in waiting and n == row.matches + 1
                queued.append(pending_row(row.id, n, row.callback_url, now if is_first else None))
            counts.append({"of_search": row.id, "last": row.matches + len(matches[row.id])})
    if contents:
        await connection.execute(insert(search_matches), contents)
        await connection.execute(insert(deliveries), queued)
        await connection.execute(_COUNT, counts)
    await mark_gaps(connection, missed, now)
