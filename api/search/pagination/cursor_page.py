"""One page of a walk over all hits: a question with a cursor in, the answer's bytes with the next cursor out.

The walk reads a frozen view of the items, so nothing that happens to the index moves it: each hit of the view is met
once, the total is the view's own on every page, and the text keeps the reading that finds something in the view. What
has been bound since is left out of its page.
"""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from api.errors import ApiError, invalid
from api.search.engine.answers import Answer, Hit, ViewGoneError
from api.search.engine.results import Gear, cursor_answer, item_of, total_of
from api.search.facets.execution import Facets, facets_of
from api.search.pagination.cursor import (
    START,
    Cursor,
    View,
    expired,
    fingerprint,
    next_request,
    view_request,
    view_search,
)
from api.search.pagination.point_in_time import now_milliseconds
from api.search.parsing.interpretation import explained
from api.search.parsing.parse import Understood
from api.search.price_desc import gains
from api.search.query.request import NO_VALUE, Question, count_request, dearest_first, from_price, page_request
from api.search.query_relaxation import in_force
from api.services import Services
from mappings.money import NO_PRICE
from mappings.platforms import Platform
from store.bound_items import bound_among


@dataclass(frozen=True)
class _Page:
    hits: list[Hit]
    reached: Cursor  # where the walk stands behind these hits
    understood: Understood  # the reading in force

    @property
    def last(self) -> bool:
        return self.reached.seen >= self.reached.total


async def walk(services: Services, platforms: Sequence[Platform], question: Question) -> bytes:
    """Answers one page, with facets of what is on offer now.

    Raises ApiError `cursor_expired`, `validation_failed`, `search_unavailable`.
    """
    facets = await facets_of(services.engine, platforms, question)  # first: where they fail no view is left behind
    try:
        if question.body.cursor == START:
            page = await _first(services, platforms, question)
        else:
            page = await _next(services, platforms, question)
    except ViewGoneError as error:
        raise expired() from error
    gear = await _offered(services, page.hits)
    token = None if page.last else await services.cursors.seal(page.reached)
    if page.understood is not question.understood:
        facets = await _facets_as_read(services, platforms, question, page)
    if page.last:
        services.cursors.end(page.reached.view)
    explanation = explained(question.body, question.understood, page.understood)
    return cursor_answer(gear, page.reached.total, token, facets, explanation)


async def _facets_as_read(
    services: Services, platforms: Sequence[Platform], question: Question, page: _Page
) -> Facets | None:
    """The facets in the page's own reading; a walk that they fail on its first page leaves no view behind."""
    with ExitStack() as undo:
        if question.body.cursor == START:
            undo.callback(services.cursors.end, page.reached.view)
        facets = await facets_of(services.engine, platforms, replace(question, understood=page.understood))
        undo.pop_all()
    return facets


async def _first(services: Services, platforms: Sequence[Platform], question: Question) -> _Page:
    cursors = services.cursors
    view = await cursors.open(platforms)
    with ExitStack() as undo:
        undo.callback(cursors.end, view)
        answer = await _from_the_start(services, platforms, question, view)
        loose = await _loosened(services, platforms, question, view) if total_of(answer) == 0 else question
        if loose is not question:
            answer = await _from_the_start(services, platforms, loose, view)
        undo.pop_all()
    start = Cursor(view, 0, fingerprint(question.body), 0, total_of(answer), [], loose is not question)
    page = _page(start, answer, loose)
    if page.last:
        await cursors.close(view)
    return page


async def _from_the_start(services: Services, platforms: Sequence[Platform], question: Question, view: View) -> Answer:
    """The first hits of a view with the number of all; asked apart they fit, because nothing moves a view."""
    search, keep, limit = services.engine.search_view, services.cursors.engine_keep_seconds, question.body.limit
    least = next(await services.dearest.bounds(platforms, question, needed=limit), None)
    if least is not None:
        page = await search(view_search(from_price(page_request(question), least), view, keep))
        if len(page["hits"].get("hits", ())) == limit:
            page["hits"]["total"] = (await search(view_search(count_request(question), view, keep)))["hits"]["total"]
            return page
    return await search(view_request(question, view, keep))


async def _loosened(services: Services, platforms: Sequence[Platform], question: Question, view: View) -> Question:
    """The question in the reading that is in force where the strict one finds nothing; a view always gives the same."""

    async def ask(bodies: Sequence[dict[str, Any]]) -> list[int]:
        keep = services.cursors.engine_keep_seconds
        asked = (services.engine.search_view(view_search(one, view, keep)) for one in bodies)
        return [total_of(answer) for answer in await asyncio.gather(*asked)]

    used = await in_force(ask, question.understood, platforms)
    return question if used is question.understood else replace(question, understood=used)


async def _next(services: Services, platforms: Sequence[Platform], question: Question) -> _Page:
    body = question.body
    cursor = await services.cursors.unseal(body.cursor or "")
    if cursor.asked != fingerprint(body):
        raise invalid("cursor", "was started with another body: only `limit` may differ, and `page` is left out")
    if cursor.loosened:
        question = await _loosened(services, platforms, question, cursor.view)
    return _page(cursor, await _behind(services, platforms, question, cursor), question)


async def _behind(services: Services, platforms: Sequence[Platform], question: Question, cursor: Cursor) -> Answer:
    """The hits behind a cursor, as many as the page has room for, or all."""
    engine, limit = services.engine, question.body.limit
    request = next_request(question, cursor, services.cursors.engine_keep_seconds)
    if dearest_first(question) and cursor.after[0] in NO_VALUE:
        return await engine.search_view(from_price(request, NO_PRICE, NO_PRICE))
    if gains(cursor.total - cursor.seen):
        for least in await services.dearest.bounds(platforms, question, needed=limit, most=cursor.after[0]):
            answer = await engine.search_view(from_price(request, least))
            if len(answer["hits"].get("hits", ())) == limit:
                return answer
    return await engine.search_view(request)


def _page(cursor: Cursor, answer: Answer, question: Question) -> _Page:
    hits: list[Hit] = answer["hits"].get("hits", [])
    seen = cursor.seen + len(hits)
    if not hits and seen < cursor.total:
        raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
    after = hits[-1]["sort"] if hits else []
    return _Page(hits, replace(cursor, handed_out=now_milliseconds(), seen=seen, after=after), question.understood)


async def _offered(services: Services, hits: list[Hit]) -> list[Gear]:
    """The items of these hits without those that an active order binds by now, whatever the view says."""
    numbers: dict[int, list[int]] = {}
    for hit in hits:
        number, platform = hit["sort"][-2:]  # every sort ends with them
        numbers.setdefault(platform, []).append(number)
    bound: set[tuple[int, int]] = set()
    if hits:
        async with services.store.reading() as connection:
            for platform, asked in numbers.items():
                taken = await bound_among(connection, platform, asked)
                bound |= {(number, platform) for number in taken}
    return [item_of(hit) for hit in hits if tuple(hit["sort"][-2:]) not in bound]
