"""A search from end to end: a checked body in, the answer's bytes out."""

from api.errors import invalid
from api.search.counting import with_facets
from api.search.cursor import check_cursor
from api.search.grouping import cards
from api.search.query import Question, asks_for_price, page_request
from api.search.results import grouped_answer, search_answer
from api.search.schemas import SearchBody, check_window, platforms_of
from api.search.understand import understand
from api.search.walk import walk
from api.services import Services


async def search(services: Services, body: SearchBody) -> bytes:
    """Answers a search; raises ApiError for what cannot be asked and `search_unavailable`."""
    platforms = platforms_of(body, services.platforms)
    check_window(body)
    check_cursor(body)
    understood = understand(body.query)
    if len({platform.currency for platform in platforms}) > 1 and asks_for_price(body, understood):
        raise invalid("platform", "the platforms have different currencies: name one to compare prices")
    question = Question(body, understood, platforms[0].minor_digits)
    if body.cursor is not None:
        return await walk(services, platforms, question)
    if body.group_by is not None:
        grouped = await cards(services.engine, platforms, question)
        return grouped_answer(grouped.gear, grouped.total, grouped.facets)
    (page,), facets = await with_facets(services.engine, platforms, question, [page_request(question)])
    return search_answer(page, facets)
