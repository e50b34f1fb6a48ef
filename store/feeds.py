"""The change feed: the leases of its recorders, and how far its logs are written.

A recorder writes only under its own term: one that was taken over changes nothing here any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from store.leases import LeaseLostError, Leases
from store.records import LogPosition
from store.schema import feed_segments, feeds

LEASES: Final = Leases(feeds, {"term": feeds.c.term + 1})


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A log: the sequence numbers of its first and its last change; last is first - 1 where there are none."""

    id: str
    first: int
    last: int
    opened_at: datetime
    closed_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Feed:
    """The feed: up to which number it is written, the state of its recorder, and its logs in the order of their
    changes.
    """

    term: int
    read_at: datetime
    committed: int
    state: str | None
    segments: Sequence[Segment]

    @property
    def newest(self) -> Segment:
        """The log that is written, or was last."""
        return self.segments[-1]

    @property
    def end(self) -> LogPosition:
        """The last change that is committed."""
        return LogPosition(self.newest.id, self.committed)


async def activate(connection: AsyncConnection, name: str, now: datetime) -> None:
    """Notes that the feed is read, and begins it where nobody read it before."""
    row = {"name": name, "term": 0, "read_at": now, "committed": 0}
    statement = upsert(feeds).values(row)
    await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"read_at": now}))


async def find(connection: AsyncConnection, name: str) -> Feed | None:
    """The feed; None while nobody reads it."""
    columns = feeds.c.term, feeds.c.read_at, feeds.c.committed, feeds.c.state
    row = (await connection.execute(select(*columns).where(feeds.c.name == name))).mappings().one_or_none()
    if row is None:
        return None
    statement = select(feed_segments).where(feed_segments.c.feed == name)
    # of those with one first change all but the last are empty; the clocks of two hosts may say otherwise
    order = feed_segments.c.first, feed_segments.c.last, feed_segments.c.opened_at
    rows = (await connection.execute(statement.order_by(*order))).mappings()
    segments = [Segment(**{key: value for key, value in each.items() if key != "feed"}) for each in rows]
    return Feed(**row, segments=segments)


async def commit(connection: AsyncConnection, name: str, term: int, segment: str | None, last: int, state: str) -> None:
    """Makes the changes up to `last` of a log the feed's, with the state after them; raises LeaseLostError."""
    await _update(connection, name, term, committed=last, state=state)
    statement = update(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.id == segment)
    await connection.execute(statement.values(last=last))


async def open_segment(connection: AsyncConnection, name: str, term: int, segment: Segment) -> None:
    """Begins a log and closes those before it; raises LeaseLostError."""
    await _update(connection, name, term)
    statement = update(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.closed_at.is_(None))
    await connection.execute(statement.values(closed_at=segment.opened_at))
    await connection.execute(insert(feed_segments).values(feed=name, **vars(segment)))


async def reset(connection: AsyncConnection, name: str, term: int) -> None:
    """Gives up the state and all logs: bookmarks expire; raises LeaseLostError."""
    await _update(connection, name, term, state=None)
    await connection.execute(delete(feed_segments).where(feed_segments.c.feed == name))


async def expire(connection: AsyncConnection, name: str, term: int, before: datetime) -> None:
    """Gives up the logs that were closed before then; raises LeaseLostError."""
    await _update(connection, name, term)
    statement = delete(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.closed_at < before)
    await connection.execute(statement)


async def end(connection: AsyncConnection, name: str, term: int, read_before: datetime) -> bool:
    """Ends a feed that nobody has read since then; whether it has ended."""
    statement = delete(feeds).where(feeds.c.name == name, feeds.c.term == term, feeds.c.read_at < read_before)
    if not (await connection.execute(statement)).rowcount:
        return False
    await connection.execute(delete(feed_segments).where(feed_segments.c.feed == name))
    return True


async def _update(connection: AsyncConnection, name: str, term: int, **values: object) -> None:
    statement = update(feeds).where(feeds.c.name == name, feeds.c.term == term)
    if not (await connection.execute(statement.values(term=term, **values))).rowcount:
        raise LeaseLostError
