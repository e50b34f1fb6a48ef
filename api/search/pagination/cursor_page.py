"""One page of a cursor: the next hits of a point in time.

Nothing that happens to the index moves a point in time: each of its hits comes once, the total is the same on every
page, and the text keeps the relaxation that finds something in it. Items bound since then are left out of their page.
"""

from contextlib import ExitStack
from dataclasses import dataclass, replace

from api.engine.answers import Answer, Gear, Hit, hits_of, item_of, total_of
from api.engine.errors import PitGoneError
from api.errors import ApiError, invalid
from api.search.availability import bound_now
from api.search.context import Page, PointInTime, SearchContext
from api.search.facets import facets_of
from api.search.pagination.cursor import START, Cursor, fingerprint, next_request
from api.search.parsing.parse import ParsedQuery
from api.search.price_desc import price_desc_hits
from api.search.query.request import count_request, page_and_count_request, page_request
from api.search.relaxation import relax
from api.services import Services


@dataclass(frozen=True)
class _Hits:
    """The hits of a page, the cursor behind them, and the parse that found them."""

    hits: list[Hit]
    cursor: Cursor
    pit: PointInTime
    parsed: ParsedQuery

    @property
    def is_last(self) -> bool:
        return self.cursor.count >= self.cursor.total


async def cursor_page(services: Services, context: SearchContext) -> Page:
    """The page of the body's cursor, with facets of what is on offer now.

    Raises ApiError `cursor_expired`, `validation_failed`, `search_unavailable`.
    """
    points_in_time = services.points_in_time
    facets = await facets_of(context)  # first: if they fail no point in time is left open
    is_first = context.body.cursor == START
    try:
        page = await (_first(services, context) if is_first else _next(services, context))
    except PitGoneError as error:
        raise ApiError("cursor_expired") from error
    with ExitStack() as undo:
        if is_first:
            undo.callback(points_in_time.release, page.pit)
        gear = await _without_bound(services, page.hits)
        token = None if page.is_last else await points_in_time.issue(page.cursor)
        if page.parsed is not context.query.parsed:
            facets = await facets_of(context.parsed_as(page.parsed))
        undo.pop_all()
    if page.is_last and is_first:
        await points_in_time.discard(page.pit)
    elif page.is_last:
        points_in_time.release(page.pit)
    return Page(gear, page.cursor.total, facets, page.parsed, token)


async def _first(services: Services, context: SearchContext) -> _Hits:
    pit = await services.points_in_time.open(context.platforms)
    with ExitStack() as undo:
        undo.callback(services.points_in_time.release, pit)
        strict = context.at(pit)
        answer, used = await _first_hits(services, strict), strict
        if total_of(answer) == 0:
            used = await relax(strict)
            if used is not strict:
                answer = await _first_hits(services, used)
        undo.pop_all()
    cursor = Cursor(pit.id, pit.shared, 0, fingerprint(context.body), 0, total_of(answer), [], used is not strict)
    return _advance(cursor, answer, pit, used.query.parsed)


async def _first_hits(services: Services, context: SearchContext) -> Answer:
    """The first hits with the exact total; searched for apart they agree, because nothing moves a point in time."""
    query = context.query
    if query.sort.name == "price_desc":
        answer = await price_desc_hits(context, services.price_histograms, page_request(query))
        if answer is not None:
            answer["hits"]["total"] = (await context.search(count_request(query)))["hits"]["total"]
            return answer
    return await context.search(page_and_count_request(query))


async def _next(services: Services, context: SearchContext) -> _Hits:
    cursor = await services.points_in_time.read(context.body.cursor or "")
    if cursor.fingerprint != fingerprint(context.body):
        raise invalid("cursor", "was started with another body: only `limit` may differ, and `page` is left out")
    pit = services.points_in_time.resume(cursor)
    context = context.at(pit)
    if cursor.relaxed:
        context = await relax(context)
    return _advance(cursor, await _next_hits(services, context, cursor), pit, context.query.parsed)


async def _next_hits(services: Services, context: SearchContext, cursor: Cursor) -> Answer:
    request = next_request(context.query, cursor)
    if context.query.sort.name == "price_desc":
        remaining = cursor.total - cursor.count
        answer = await price_desc_hits(
            context, services.price_histograms, request, after=cursor.after[0], remaining=remaining
        )
        if answer is not None:
            return answer
    return await context.search(request)


def _advance(cursor: Cursor, answer: Answer, pit: PointInTime, parsed: ParsedQuery) -> _Hits:
    """The hits of an answer, and the cursor that stands behind them."""
    hits = hits_of(answer)
    count = cursor.count + len(hits)
    if not hits and count < cursor.total:
        raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
    return _Hits(hits, replace(cursor, count=count, after=hits[-1]["sort"] if hits else []), pit, parsed)


async def _without_bound(services: Services, hits: list[Hit]) -> list[Gear]:
    """The items of these hits without those that an active order binds by now."""
    keys = [(hit["sort"][-2], hit["sort"][-1]) for hit in hits]  # item and platform: every sort ends with them
    bound = await bound_now(services, keys)
    return [item_of(hit) for hit, key in zip(hits, keys, strict=True) if key not in bound]
