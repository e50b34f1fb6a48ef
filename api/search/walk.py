"""One page of a walk over all hits: a question with a cursor in, the answer's bytes with the next cursor out.

The walk reads a frozen view of the items, so nothing that happens to the index moves it: each hit of the view is met
once, and the total is the view's own on every page. What has been bound since is left out of its page.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.errors import ApiError, invalid
from api.search.counting import facets_of
from api.search.cursor import START, Cursor, expired, fingerprint, next_request, view_request
from api.search.cursors import now_milliseconds
from api.search.engine_answers import ViewGoneError
from api.search.query import Question
from api.search.results import cursor_answer
from api.services import Services
from mappings.platforms import Platform
from store import orders

Hit = dict[str, Any]


@dataclass(frozen=True)
class _Page:
    hits: list[Hit]
    reached: Cursor  # where the walk stands behind these hits

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
            page = await _next(services, question)
    except ViewGoneError as error:
        raise expired() from error
    gear = await _offered(services, page.hits)
    token = None if page.last else await services.cursors.seal(page.reached)
    if page.last:
        services.cursors.end(page.reached.view)
    return cursor_answer(gear, page.reached.total, token, facets)


async def _first(services: Services, platforms: Sequence[Platform], question: Question) -> _Page:
    cursors = services.cursors
    view = await cursors.open(platforms)
    try:
        answer = await services.engine.search_view(view_request(question, view, cursors.engine_keep_seconds))
    except BaseException:
        cursors.end(view)
        raise
    start = Cursor(view, 0, fingerprint(question.body), 0, answer["hits"]["total"]["value"], [])
    page = _page(start, answer)
    if page.last:
        await cursors.close(view)
    return page


async def _next(services: Services, question: Question) -> _Page:
    body = question.body
    cursor = await services.cursors.unseal(body.cursor or "")
    if cursor.asked != fingerprint(body):
        raise invalid("cursor", "was started with another body: only `limit` may differ, and `page` is left out")
    request = next_request(question, cursor, services.cursors.engine_keep_seconds)
    return _page(cursor, await services.engine.search_view(request))


def _page(cursor: Cursor, answer: dict[str, Any]) -> _Page:
    hits: list[Hit] = answer["hits"].get("hits", [])
    seen = cursor.seen + len(hits)
    if not hits and seen < cursor.total:
        raise ApiError("search_unavailable", "the search engine gave only a part of the answer")
    after = hits[-1]["sort"] if hits else []
    return _Page(hits, replace(cursor, handed_out=now_milliseconds(), seen=seen, after=after))


async def _offered(services: Services, hits: list[Hit]) -> list[dict[str, Any]]:
    """The items of these hits without those that an active order binds by now, whatever the view says."""
    numbers: dict[int, list[int]] = {}
    for hit in hits:
        number, platform = hit["sort"][-2:]  # every sort ends with them
        numbers.setdefault(platform, []).append(number)
    bound: set[tuple[int, int]] = set()
    if hits:
        async with services.store.reading() as connection:
            for platform, asked in numbers.items():
                taken = await orders.bound_among(connection, platform, asked)
                bound |= {(number, platform) for number in taken}
    return [hit["_source"]["item"] for hit in hits if tuple(hit["sort"][-2:]) not in bound]
