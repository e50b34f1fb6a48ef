"""Answers a search: from its raw body to the bytes of its response."""

from typing import Any

import orjson

from api.engine.answers import gear_of, total_of
from api.http.json_body import checked, parse
from api.search.context import Page, SearchContext, search_context
from api.search.facets import search_with_facets
from api.search.groups import grouped_page
from api.search.pagination.cursor_page import cursor_page
from api.search.parsing.interpretation import interpretation
from api.search.price_desc import price_desc_page
from api.search.query.request import hit_requests, page_and_count_request
from api.search.relaxation import relax
from api.search.response_cache import Computation
from api.search.schemas.search import SearchBody
from api.services import Services


async def cached_search(services: Services, content: bytes) -> bytes:
    """The response to a raw body, from the cache if it is still valid.

    Raises ApiError for a body that cannot be searched and `search_unavailable`.
    """

    def prepare() -> Computation:
        body = checked(SearchBody, parse(content))
        context = search_context(services.engine, services.platforms, body)
        # each cursor reads a point in time of its own
        return Computation(lambda: search(services, context), None if body.cursor is not None else context.platforms)

    return await services.response_cache.get_or_compute(content, prepare)


async def search(services: Services, context: SearchContext) -> bytes:
    """Searches; raises ApiError `search_unavailable`, and for a cursor `cursor_expired`, `validation_failed`."""
    if context.body.cursor is not None:
        return _response(context, await cursor_page(services, context))
    page = await _page(services, context)
    if page.total == 0:
        relaxed = await relax(context)
        if relaxed is not context:
            page = await _page(services, relaxed)
    return _response(context, page)


async def _page(services: Services, context: SearchContext) -> Page:
    if context.body.group_by is not None:
        return await grouped_page(context)
    if context.query.sort.name == "price_desc":
        page = await price_desc_page(context, services.price_histograms)
        if page is not None:
            return page
    return await _page_of_hits(context)


async def _page_of_hits(context: SearchContext) -> Page:
    query = context.query
    answers, facets = await search_with_facets(context, hit_requests(query))
    gear, total = gear_of(answers[0]), total_of(answers[-1])
    if not query.is_page(len(gear), total):  # the index was refreshed between the two
        answer = await context.search(page_and_count_request(query))
        gear, total = gear_of(answer), total_of(answer)
    return Page(gear, total, facets, query.parsed)


def _response(context: SearchContext, page: Page) -> bytes:
    response: dict[str, Any] = {"status": "success", "gear": page.gear, "total": page.total}
    if context.body.cursor is not None:
        response["nextCursor"] = page.next_cursor
    if page.facets is not None:
        response["facets"] = page.facets
    if context.body.explain:
        response["interpretation"] = interpretation(context.query.parsed, page.parsed)
    return orjson.dumps(response)
