"""Answers a search, from its raw body to the bytes of its response, and suggestions."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Final

import orjson
from fastapi import Depends

from api.engine.client import Engine
from api.engine.errors import LOAD_AGAIN
from api.errors import ApiError
from api.http.admission import Budget
from api.http.dependencies import service
from api.http.json_body import checked, parse
from api.log import log
from api.rate_limits.limits import Charge
from api.search.availability import Availability
from api.search.context import Page, SearchContext, forced_clauses, page_of, search_context
from api.search.costs import SUGGESTIONS_COST, extra_cost, relaxation_cost
from api.search.facets.facets import FacetCounting, RefreshedError
from api.search.facets.price_parts import BroadFilters
from api.search.forced_filters import forced_filters
from api.search.groups import grouped_page
from api.search.pagination.cursor import START
from api.search.pagination.cursor_page import open_cursor
from api.search.pagination.point_in_time import PointsInTime
from api.search.parsing.interpretation import interpretation
from api.search.price_desc import PriceHistograms, price_desc_page
from api.search.query.operator_rules import hidden_from_all
from api.search.relaxation.relax import relax
from api.search.response_cache import Computation, ResponseCache
from api.search.schemas.search import SearchBody
from api.search.suggest.counting import FrequentValueCounts
from api.search.suggest.suggest import suggest
from api.search.unanswered import TextOutcome, UnansweredSearches
from mappings.platforms import Platform, Platforms
from store.auth.tokens import Token

ReadPage = Callable[[SearchContext], Awaitable[Page]]
Relax = Callable[[SearchContext], Awaitable[SearchContext]]
CONTRADICTION: Final = "some listings have a price or float that is not of their histogram's bucket"


@dataclass(frozen=True)
class SearchServices:
    """The engine of searches, what they have learnt of it, and what they leave."""

    engine: Engine
    platforms: Platforms
    availability: Availability
    cursor_budget: Budget
    points_in_time: PointsInTime
    response_cache: ResponseCache
    broad_filters: BroadFilters
    price_histograms: PriceHistograms
    frequent_values: FrequentValueCounts
    unanswered: UnansweredSearches


SearchDependency = Annotated[SearchServices, Depends(service(SearchServices))]


async def cached_search(services: SearchServices, token: Token, content: bytes, charge: Charge) -> bytes:
    """The response to a token's raw body, from the cache if it is still valid; `charge` is called for what it costs.

    Raises ApiError for a body that cannot be searched, `rate_limited` and `search_unavailable`.
    """

    def prepare() -> Computation:
        body = checked(SearchBody, parse(content))
        context = search_context(services.engine, services.platforms, body, forced_filters(token))
        # each cursor reads a point in time of its own
        platforms = None if body.cursor is not None else context.platforms
        searched = [platform.id for platform in context.platforms]
        outcome = TextOutcome(services.unanswered, searched, context.query.parsed.text)
        # A search counts once, not again for its further pages. What a token's own filters leave out lacks no word.
        is_counted = body.page == 1 and body.cursor in (None, START) and token.filters is None
        return Computation(
            lambda: search(services, context, charge, token.filters, outcome),
            platforms,
            outcome.count if is_counted else None,
        )

    return await services.response_cache.get_or_compute(("search", token.filters, content), prepare)


async def cached_suggestions(
    services: SearchServices, token: Token, platforms: tuple[Platform, ...], text: str, limit: int, charge: Charge
) -> bytes:
    """The suggestions for a text, from the cache if they are still valid; raises as `cached_search`."""
    forced = (*forced_clauses(forced_filters(token), platforms), *hidden_from_all(platforms))
    # those of all items may be none of those that the token may see
    frequent, number = services.frequent_values.of(platforms) if token.filters is None else (None, 0)

    async def compute() -> bytes:
        await charge(SUGGESTIONS_COST)
        return await suggest(services.engine, platforms, text, limit, forced, frequent)

    key = f"{[platform.id for platform in platforms]} {limit} {number} {text}".encode()
    computation = Computation(compute, platforms)
    return await services.response_cache.get_or_compute(("suggest", token.filters, key), lambda: computation)


async def search(
    services: SearchServices, context: SearchContext, charge: Charge, forced: str | None, outcome: TextOutcome
) -> bytes:
    """Searches, and notes how the text was read.

    Raises ApiError `search_unavailable`, and for a cursor `cursor_expired`, `validation_failed`.
    """

    async def charged_relax(context: SearchContext) -> SearchContext:
        await charge(relaxation_cost(context.query))
        relaxed = await relax(context)
        outcome.set(None if relaxed is context else relaxed.query.parsed.relaxation)
        return relaxed

    await charge(extra_cost(context.query))
    read = partial(_page_with_facets, services)
    if context.body.cursor is None:
        page = await relaxed_page(context, read, charged_relax)
    else:
        async with (
            services.cursor_budget.slot(),
            open_cursor(services.points_in_time, context, charge, forced) as cursor,
        ):
            page = await relaxed_page(cursor.context, read, charged_relax)
            page = await cursor.complete(page, services.availability)
    return _response(context, page)


async def relaxed_page(context: SearchContext, read: ReadPage, relax: Relax = relax) -> Page:
    """The page that `read` gives; where the strict parse finds nothing, that of the relaxation that finds something."""
    page = await read(context)
    if page.total or context.query.parsed.matches_all:
        return page
    relaxed = await relax(context)
    is_strict = relaxed.query.parsed is context.query.parsed  # then it is the filters that let nothing through
    return page if is_strict else await read(relaxed)


async def _page_with_facets(services: SearchServices, context: SearchContext) -> Page:
    """The page; the facets are counted in the same round trip, and where the index was refreshed within it, both are
    read again, of one point in time. A cursor has the facets of now.
    """
    if not context.body.facets:
        return await strict_page(services, context)
    in_parts = services.broad_filters.has(context.query)
    counting = FacetCounting(context.index, context.query, in_parts=in_parts)
    page = await strict_page(services, replace(context, index=counting))
    services.broad_filters.add(context.query, page.total)
    items = page.total if page.items is None else page.items
    try:
        return replace(page, facets=await counting.facets(items if context.pit is None else None))
    except RefreshedError:
        async with services.points_in_time.own(context.platforms) as pit:
            counting = FacetCounting(pit, context.query)
            page = page if context.pit else await strict_page(services, replace(context, index=counting))
            try:
                return replace(page, facets=await counting.facets())
            except RefreshedError as error:  # at one point in time it is the listings that contradict themselves
                log.error(CONTRADICTION, platforms=[platform.id for platform in context.platforms])
                raise ApiError("search_unavailable", f"{CONTRADICTION}: {LOAD_AGAIN}") from error


async def strict_page(services: SearchServices, context: SearchContext) -> Page:
    """The page of the text as it was typed: nothing is relaxed. Raises ApiError `search_unavailable`."""
    if context.body.group_by is not None:
        return await grouped_page(context)
    if context.query.sort.name == "price_desc":
        pruned = await price_desc_page(context, services.price_histograms)
        if pruned is not None:
            return pruned
    return await items_page(context)


async def items_page(context: SearchContext) -> Page:
    """The page of items of the text as it was typed, read without a bound on price; raises as `strict_page`."""
    query, ask = context.query, context.source.search_all
    page = page_of(query, await ask(query.hit_requests))
    if context.pit is not None or query.is_page(len(page.hits), page.total):
        return page
    return page_of(query, await ask([query.page_and_count_request]))  # the index was refreshed between the two


def _response(context: SearchContext, page: Page) -> bytes:
    response: dict[str, Any] = {"status": "success", "gear": page.gear, "total": page.total}
    if context.body.cursor is not None:
        response["nextCursor"] = page.next_cursor
    if page.facets is not None:
        response["facets"] = page.facets
    if context.body.explain:
        response["interpretation"] = interpretation(context.query.parsed, page.parsed)
    return orjson.dumps(response)
