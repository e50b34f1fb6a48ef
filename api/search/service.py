"""A search from end to end: a checked body in, the answer's bytes out."""

from collections.abc import Sequence
from dataclasses import replace

from api.errors import invalid
from api.http.json_body import checked, parse
from api.search.engine.results import Gear, gear_of, search_answer, total_of
from api.search.facets.execution import with_facets
from api.search.groups.execution import Page, cards
from api.search.pagination.cursor import check_cursor
from api.search.pagination.cursor_page import walk
from api.search.parsing.interpretation import explained
from api.search.parsing.parse import understand
from api.search.price_desc import gains
from api.search.query.request import Clause, Question, asks_for_price, fits, from_price, hit_requests, whole_request
from api.search.query_relaxation import in_force
from api.search.schemas.search import SearchBody, check_window, platforms_of
from api.services import Services
from mappings.platforms import Platform


async def answered(services: Services, content: bytes) -> bytes:
    """The answer to a body as it was sent: the one that is kept where it still holds, or a new one.

    Raises ApiError for what cannot be asked and `search_unavailable`.
    """
    kept = await services.answers.found(content)
    if kept is not None:
        return kept
    body = checked(SearchBody, parse(content))
    if body.cursor is not None:  # a view of its own
        return await search(services, body)
    platforms = platforms_of(body, services.platforms)
    return await services.answers.keep(content, platforms, lambda: search(services, body))


async def search(services: Services, body: SearchBody) -> bytes:
    """Answers a search; raises ApiError for what cannot be asked and `search_unavailable`."""
    platforms = platforms_of(body, services.platforms)
    check_window(body)
    check_cursor(body)
    strict = understand(body.query, platforms)
    if len({platform.currency for platform in platforms}) > 1 and asks_for_price(body, strict):
        raise invalid("platform", "the platforms have different currencies: name one to compare prices")
    question = Question(body, strict, platforms[0].minor_digits)
    if body.cursor is not None:
        return await walk(services, platforms, question)
    engine = services.engine
    page = await _page(services, platforms, question)
    if page.total == 0:

        async def totals(bodies: Sequence[Clause]) -> list[int]:
            return [total_of(answer) for answer in await engine.search_all(platforms, bodies)]

        used = await in_force(totals, strict, platforms)
        if used is not strict:
            question = replace(question, understood=used)
            page = await _page(services, platforms, question)
    return search_answer(page.gear, page.total, page.facets, explained(body, strict, question.understood))


async def _page(services: Services, platforms: Sequence[Platform], question: Question) -> Page:
    engine, body = services.engine, question.body
    if body.group_by is not None:
        return await cards(engine, platforms, question)
    bounds = await services.dearest.bounds(platforms, question, needed=body.page * body.limit)
    first, *more = hit_requests(question)
    guess = next(bounds, None)
    guessed = guess is not None
    answers, facets = await with_facets(engine, platforms, question, [_from(first, guess), *more])
    gear, total = gear_of(answers[0]), total_of(answers[-1])
    while not _shown(body, gear, total, guessed) and gains(total) and (guess := next(bounds, None)) is not None:
        gear = gear_of(await engine.search(platforms, from_price(first, guess)))
    if not _shown(body, gear, total, guessed):  # there are so few, or the index was refreshed in between
        together = await engine.search(platforms, whole_request(question))
        gear, total = gear_of(together), total_of(together)
    return Page(gear, total, facets)


def _shown(body: SearchBody, gear: Sequence[Gear], total: int, guessed: bool) -> bool:
    """Whether these hits are the page: of a guess a full one, which holds whatever else there is, or none of none."""
    return fits(body, len(gear), total) and (not guessed or len(gear) == body.limit or total == 0)


def _from(request: Clause, least: int | None) -> Clause:
    return request if least is None else from_price(request, least)
