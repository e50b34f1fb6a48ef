"""The change feed: the lease of its recorder, and how far its logs are written.

A recorder writes only under its own term: one that was taken over changes nothing here any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.upsert import insert_for
from store.schema import feed_segments, feeds

MAX_LEASE: Final = timedelta(minutes=10)
"""No lease lasts longer, though the clocks of hosts differ. One that says so was taken by a clock that was wrong, and
is free."""


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
    owner: str | None
    leased_until: datetime | None
    read_at: datetime
    committed: int
    state: str | None
    segments: Sequence[Segment]

    @property
    def newest(self) -> Segment:
        """The log that is written, or was last."""
        return self.segments[-1]

    def is_leased_elsewhere(self, owner: str, now: datetime) -> bool:
        """Whether another recorder has the lease."""
        if self.leased_until is None or self.owner == owner:
            return False
        return now <= self.leased_until <= now + MAX_LEASE


class SupersededError(Exception):
    """Another recorder has taken over."""


async def activate(connection: AsyncConnection, name: str, now: datetime) -> None:
    """Notes that the feed is read, and begins it where nobody read it before."""
    row = {"name": name, "term": 0, "read_at": now, "committed": 0}
    statement = insert_for(connection.dialect.name, feeds).values(row)
    await connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"read_at": now}))


def is_over(leased_until: ColumnElement[datetime], now: datetime) -> ColumnElement[bool]:
    """Whether a lease has ended, or was taken by a clock that was wrong."""
    return or_(leased_until < now, leased_until > now + MAX_LEASE)


async def find(connection: AsyncConnection, name: str) -> Feed | None:
    """The feed; None while nobody reads it."""
    row = (await connection.execute(select(feeds).where(feeds.c.name == name))).mappings().one_or_none()
    if row is None:
        return None
    ours = select(feed_segments).where(feed_segments.c.feed == name)
    # of those with one first change all but the last are empty; the clocks of two hosts may say otherwise
    order = feed_segments.c.first, feed_segments.c.last, feed_segments.c.opened_at
    rows = (await connection.execute(ours.order_by(*order))).mappings()
    segments = [Segment(**{key: value for key, value in each.items() if key != "feed"}) for each in rows]
    return Feed(**{key: value for key, value in row.items() if key != "name"}, segments=segments)


async def lease(connection: AsyncConnection, name: str, owner: str, now: datetime, seconds: float) -> bool:
    """Takes or renews the lease; False where another recorder has it, or nobody reads the feed."""
    until = now + timedelta(seconds=seconds)
    ours = update(feeds).where(feeds.c.name == name)
    renewed = await connection.execute(ours.where(feeds.c.owner == owner).values(leased_until=until))
    if renewed.rowcount:
        return True
    free = or_(feeds.c.owner.is_(None), is_over(feeds.c.leased_until, now))
    values = {"owner": owner, "term": feeds.c.term + 1, "leased_until": until}
    return bool((await connection.execute(ours.where(free).values(values))).rowcount)


async def release(connection: AsyncConnection, name: str, owner: str) -> None:
    """Ends the lease."""
    ours = update(feeds).where(feeds.c.name == name, feeds.c.owner == owner)
    await connection.execute(ours.values(owner=None, leased_until=None))


async def commit(connection: AsyncConnection, name: str, term: int, segment: str | None, last: int, state: str) -> None:
    """Makes the changes up to `last` of a log the feed's, with the state after them; raises SupersededError."""
    await _update(connection, name, term, committed=last, state=state)
    ours = update(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.id == segment)
    await connection.execute(ours.values(last=last))


async def open_segment(connection: AsyncConnection, name: str, term: int, segment: Segment) -> None:
    """Begins a log and closes those before it; raises SupersededError."""
    await _update(connection, name, term)
    ours = update(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.closed_at.is_(None))
    await connection.execute(ours.values(closed_at=segment.opened_at))
    await connection.execute(insert(feed_segments).values(feed=name, **vars(segment)))


async def reset(connection: AsyncConnection, name: str, term: int) -> None:
    """Gives up the state and all logs: bookmarks expire; raises SupersededError."""
    await _update(connection, name, term, state=None)
    await connection.execute(delete(feed_segments).where(feed_segments.c.feed == name))


async def expire(connection: AsyncConnection, name: str, term: int, before: datetime) -> None:
    """Gives up the logs that were closed before then; raises SupersededError."""
    await _update(connection, name, term)
    ours = delete(feed_segments).where(feed_segments.c.feed == name, feed_segments.c.closed_at < before)
    await connection.execute(ours)


async def end(connection: AsyncConnection, name: str, term: int, read_before: datetime) -> bool:
    """Ends a feed that nobody has read since then; whether it has ended."""
    ours = delete(feeds).where(feeds.c.name == name, feeds.c.term == term, feeds.c.read_at < read_before)
    if not (await connection.execute(ours)).rowcount:
        return False
    await connection.execute(delete(feed_segments).where(feed_segments.c.feed == name))
    return True


async def _update(connection: AsyncConnection, name: str, term: int, **values: object) -> None:
    ours = update(feeds).where(feeds.c.name == name, feeds.c.term == term)
    if not (await connection.execute(ours.values(term=term, **values))).rowcount:
        raise SupersededError
