"""The log of changes: an index for each recorder and few hours, and what readers read of them.

A log is read only up to what the store says is committed, so that what a recorder wrote that was taken over is never
read.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from api.changes.bookmark import encode
from api.changes.entries import Change, changes_of, request, response_of
from api.engine.clauses import Clause
from api.engine.errors import NotLoadedError
from api.engine.feed import LOG_INDEX_SUFFIX, FeedEngine
from api.errors import ApiError
from store.feeds import Feed, Segment
from store.records import LogPosition

MAX_SIDES: Final = 3
_ID_BYTES: Final = 8


@dataclass(frozen=True)
class Subscription:
    """What a reader asks for: the items on offer that a query finds, of these platforms."""

    key: tuple[str | None, bytes]  # the filters that the token forces, and the body
    offered: Clause
    platforms: tuple[int, ...]
    with_platform: bool


@dataclass(frozen=True)
class ChangePage:
    """Changes in their order; `end` is up to where they are all, `more` whether there are more committed ones."""

    changes: Sequence[Change]
    end: LogPosition
    more: bool
    _responses: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def after(self, seq: int, limit: int) -> "ChangePage":
        """The first of the changes after this one."""
        unread = [change for change in self.changes if change.seq > seq]
        if len(unread) <= limit:
            return ChangePage(unread, self.end, self.more)
        return ChangePage(unread[:limit], LogPosition(self.end.segment, unread[limit - 1].seq), more=True)

    def response(self, seq: int, limit: int) -> bytes:
        """The body for a reader who has read up to this change; made once for all of them."""
        response = self._responses.get((seq, limit))
        if response is None:
            page = self.after(seq, limit)
            response = self._responses[seq, limit] = response_of(page.changes, encode(page.end), more=page.more)
        return response


def new_segment(feed: Feed, now: datetime) -> Segment:
    """A log that begins after what is committed."""
    return Segment(
        id=secrets.token_hex(_ID_BYTES), first=feed.committed + 1, last=feed.committed, opened_at=now, closed_at=None
    )


def segments_from(feed: Feed, position: LogPosition) -> Sequence[Segment]:
    """The log with a position and those after it; none where the position is in no log of the feed."""
    at = next((at for at, each in enumerate(feed.segments) if each.id == position.segment), None)
    if at is None or not feed.segments[at].first - 1 <= position.seq <= feed.segments[at].last:
        return ()
    return feed.segments[at:]


class ChangeLog:
    def __init__(self, engine: FeedEngine, prefix: str) -> None:
        self._engine = engine
        self.feed = prefix  # the name in the store

    def name(self, segment: str) -> str:
        """The alias of a log."""
        return f"{self.feed}-changes-{segment}"

    def index(self, segment: str) -> str:
        return self.name(segment) + LOG_INDEX_SUFFIX

    async def read(self, feed: Feed, subscription: Subscription, since: LogPosition, limit: int) -> ChangePage:
        """The next changes after a bookmark; raises ApiError `bookmark_expired`, `search_unavailable`."""
        segments = segments_from(feed, since)
        if not segments:
            raise ApiError("bookmark_expired")
        after = since.seq
        for segment in segments:
            if segment.last <= after:
                continue
            page = await self._read(segment, subscription, after, limit)
            if page.changes:
                more = page.more or bool((await self.read(feed, subscription, page.end, 1)).changes)  # in later logs
                return replace(page, more=more)
            after = segment.last
        return ChangePage([], feed.end, more=False)

    async def _read(self, segment: Segment, subscription: Subscription, after: int, limit: int) -> ChangePage:
        changes: list[Change] = []
        more = True
        while more and len(changes) < limit:
            missing = limit - len(changes)
            # one side each at first; where there are more, a second request has room for two
            size = (2 if changes else 1) * missing + MAX_SIDES
            body = request(subscription.offered, subscription.platforms, after, segment.last, size)
            try:
                entries = await self._engine.entries(self.name(segment.id), body)
            except NotLoadedError as error:
                raise ApiError("bookmark_expired", "the log of these changes was lost: read all again") from error
            part, more = changes_of(entries, size, with_platform=subscription.with_platform)
            more = more or len(part) > missing
            changes += part[:missing]
            after = changes[-1].seq if changes else after
        return ChangePage(changes, LogPosition(segment.id, changes[-1].seq if more else segment.last), more)

    async def indices(self) -> list[str]:
        """Those of this service's logs; the prefix of another service may begin like its own."""
        log = re.compile(rf"{re.escape(self.name(''))}[0-9a-f]{{{2 * _ID_BYTES}}}{LOG_INDEX_SUFFIX}")
        return [index for index in await self._engine.logs(self.name("*")) if log.fullmatch(index)]

    async def drop_all_but(self, segments: Sequence[Segment], indices: Sequence[str]) -> None:
        """Deletes those indices that are the log of none of the segments."""
        wanted = {self.index(segment.id) for segment in segments}
        unwanted = [index for index in indices if index not in wanted]
        if unwanted:
            await self._engine.drop(unwanted)
