"""A search from end to end: a checked body in, the answer's bytes out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from api.errors import invalid
from api.search.counting import with_facets
from api.search.cursor import check_cursor
from api.search.grouping import cards
from api.search.in_force import in_force
from api.search.interpretation import explained
from api.search.query import Question, asks_for_price, page_request
from api.search.results import grouped_answer, search_answer, total_of
from api.search.schemas import SearchBody, check_window, platforms_of
from api.search.understand import understand
from api.search.walk import walk
from api.services import Services
from mappings.platforms import Platform


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
    answered = await _answer(services, platforms, question)
    if not answered.total:
        used = await in_force(lambda bodies: engine.search_all(platforms, bodies), strict, platforms)
        if used is not strict:
            question = replace(question, understood=used)
            answered = await _answer(services, platforms, question)
    return answered.told(explained(body, strict, question.understood))


@dataclass(frozen=True)
class _Answered:
    """How many hits or names were found, and what makes the answer of them and of what else is told."""

    total: int
    told: Callable[[dict[str, Any]], bytes]


async def _answer(services: Services, platforms: Sequence[Platform], question: Question) -> _Answered:
    """The body's page in this reading."""
    if question.body.group_by is not None:
        grouped = await cards(services.engine, platforms, question)
        return _Answered(grouped.total, partial(grouped_answer, grouped.gear, grouped.total, grouped.facets))
    (page,), facets = await with_facets(services.engine, platforms, question, [page_request(question)])
    return _Answered(total_of(page), partial(search_answer, page, facets))
