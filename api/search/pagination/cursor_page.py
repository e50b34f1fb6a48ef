"""Opens a cursor: the context that its next page is searched with, and what follows that page.

Nothing that happens to the index moves a point in time: each of its hits comes once, the total is the same on every
page, and the text keeps the relaxation that finds something in it. Items bound since then are left out of their page.
What operators hide or show meanwhile holds for the pages that follow, so the total does not tell which one is the last.
"""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from msgspec import structs

from api.engine.errors import PitGoneError
from api.engine.responses import Gear, Hit, item_of
from api.errors import ApiError, invalid
from api.rate_limits.limits import Charge
from api.search.availability import Availability
from api.search.context import Page, PointInTime, SearchContext
from api.search.costs import relaxation_cost
from api.search.pagination.cursor import START, Cursor, fingerprint
from api.search.pagination.point_in_time import PointsInTime
from api.search.parsing.parse import Relaxation
from api.search.query.request import Position
from api.search.relaxation.relax import relax


@asynccontextmanager
async def open_cursor(
    points_in_time: PointsInTime, context: SearchContext, charge: Charge, forced: str | None
) -> AsyncIterator["OpenCursor"]:
    """Starts or continues the body's cursor; a started one that fails leaves no point in time open. Another token
    continues it only with the same `forced` filters.

    Raises ApiError `cursor_expired`, `validation_failed`, `search_unavailable`.
    """
    try:
        if context.body.cursor != START:
            yield await _continued(points_in_time, context, charge, forced)
            return
        pit = await points_in_time.open(context.platforms)
        with ExitStack() as undo:
            undo.callback(points_in_time.release, pit)
            cursor = Cursor(
                pit=pit.id,
                shared=pit.shared,
                issued_at=0,
                fingerprint=fingerprint(context.body, forced),
                count=0,
                total=0,
                after=[],
                relaxed=False,
                started_at=0,
                products=pit.products,
            )
            yield OpenCursor(points_in_time, pit, context.at(pit, Position()), cursor)
            undo.pop_all()
    except PitGoneError as error:
        # one that has just begun is gone because something is wrong, and beginning again would not help
        raise ApiError("search_unavailable" if context.body.cursor == START else "cursor_expired") from error


async def _continued(
    points_in_time: PointsInTime, context: SearchContext, charge: Charge, forced: str | None
) -> "OpenCursor":
    cursor = await points_in_time.decode(context.body.cursor or "")
    if cursor.fingerprint != fingerprint(context.body, forced):
        raise invalid("cursor", "was started with another body: only `limit` may differ, and `page` is left out")
    pit = points_in_time.resume(cursor)
    strict = context.at(pit, Position(cursor.count, cursor.total, cursor.after))
    if not cursor.relaxed:
        return OpenCursor(points_in_time, pit, strict, cursor)
    await charge(relaxation_cost(context.query))
    return OpenCursor(points_in_time, pit, await relax(strict), cursor)


@dataclass(frozen=True)
class OpenCursor:
    """A cursor, its point in time, and the context that its next page is searched with."""

    points_in_time: PointsInTime
    pit: PointInTime
    context: SearchContext
    cursor: Cursor

    async def complete(self, page: Page, availability: Availability) -> Page:
        """The page without items that are bound by now, with the cursor behind it."""
        gear = await _without_bound(availability, page.hits) if page.hits else page.gear
        if page.has_next:
            count, relaxed = self.cursor.count + page.size, page.parsed.relaxation is not Relaxation.STRICT
            after = list(page.after)
            cursor = structs.replace(self.cursor, count=count, total=page.total, after=after, relaxed=relaxed)
            return replace(page, gear=gear, next_cursor=await self.points_in_time.issue(cursor))
        if self.cursor.count == 0:
            await self.points_in_time.discard(self.pit)  # no cursor was issued for it
        else:
            self.points_in_time.release(self.pit)
        return replace(page, gear=gear)


async def _without_bound(availability: Availability, hits: list[Hit]) -> list[Gear]:
    """The items of these hits without those that an active order binds by now."""
    keys = [(hit["sort"][-2], hit["sort"][-1]) for hit in hits]  # item and platform: every sort ends with them
    bound = await availability.bound_among(keys)
    return [item_of(hit) for hit, key in zip(hits, keys, strict=True) if key not in bound]
