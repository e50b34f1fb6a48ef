"""Routes of search, suggestions and single items."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response, Security
from fastapi.routing import APIRoute

from api.auth import SearchToken, search_token
from api.engine.clauses import probe
from api.engine.client import Engine
from api.engine.responses import total_of
from api.errors import ApiError
from api.http.dependencies import only_query, refuse_get, service_of
from api.http.fields import parse_item_id
from api.http.json_body import content_of, json_response, request_body
from api.http.openapi import BODY_ERRORS, TOKEN_ERRORS, responses
from api.known_platforms import known_platform, platform_or_only
from api.rate_limits.limits import RateLimits
from api.search.context import forced_clauses
from api.search.forced_filters import forced_filters
from api.search.schemas.search import (
    DEFAULT_SUGGESTIONS,
    MAX_SUGGEST_CHARACTERS,
    MAX_SUGGESTIONS,
    ItemResponse,
    SearchBody,
    SearchResponse,
    SuggestResponse,
)
from api.search.service import SearchDependency, SearchServices, cached_search, cached_suggestions
from mappings.platforms import Platform
from store.auth.tokens import Token


class _DirectRoute(APIRoute):
    """A route whose endpoint takes the request itself: solving dependencies takes an eighth of a search."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        endpoint: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return endpoint


search_router = APIRouter(tags=["search"], route_class=_DirectRoute)
router = APIRouter(tags=["search"])
_no_query = only_query()


@search_router.post(
    "/v1/gear/search",
    summary="Search gear by text and filters",
    responses=responses(
        SearchResponse, *BODY_ERRORS, "unknown_platform", "page_window_exceeded", "cursor_expired", "search_unavailable"
    ),
    dependencies=[Security(search_token)],  # for its description: the endpoint asks for it
    openapi_extra=request_body(SearchBody),
)
async def search(request: Request) -> Response:
    """Items that have all words of `query` and one of the values of every filter, in the order of `sort`."""
    token = await search_token(request)
    await _no_query(request)
    content = await content_of(request)
    with service_of(request, RateLimits).search_slot(request.scope, token) as charge:
        response = await cached_search(service_of(request, SearchServices), token, content, charge)
    return Response(response, media_type="application/json")


router.get("/v1/gear/search", include_in_schema=False)(refuse_get)  # which else would be the item `search`


@router.get(
    "/v1/gear/suggest",
    summary="Suggestions while typing",
    responses=responses(SuggestResponse, *TOKEN_ERRORS, "unknown_platform", "search_unavailable"),
)
async def get_suggestions(
    token: SearchToken,
    request: Request,
    _: Annotated[None, Depends(only_query("q", "platform", "limit"))],
    services: SearchDependency,
    q: Annotated[str, Query(min_length=1, max_length=MAX_SUGGEST_CHARACTERS, description="what was typed so far")],
    platform: Annotated[str | None, Query(description="slug or id of a platform; all platforms where absent")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_SUGGESTIONS, description="how many at most")] = DEFAULT_SUGGESTIONS,
) -> Response:
    """Names, weapons, finishes, sets and stickers that have all words of `q`, the last one as far as it was typed.

    What begins with the whole text comes first, then what most items have. Where nothing has the words, `q` may be the
    beginning of a name in one of the platform's languages (`couteau pap`), and else have typos. `item` is a name,
    `finish` what a weapon is painted with, `sticker` one that is on an item.
    """
    searched = tuple(services.platforms) if platform is None else (known_platform(services.platforms, platform),)
    with service_of(request, RateLimits).search_slot(request.scope, token) as charge:
        response = await cached_suggestions(services, token, searched, q, limit, charge)
    return Response(response, media_type="application/json")


@router.get(
    "/v1/gear/{id}",
    summary="One item",
    responses=responses(ItemResponse, *TOKEN_ERRORS, "item_not_found", "unknown_platform", "search_unavailable"),
)
async def get_item(
    gear_id: Annotated[str, Path(alias="id", description="the item's id in decimal")],
    token: SearchToken,
    _: Annotated[None, Depends(only_query("platform"))],
    services: SearchDependency,
    platform: Annotated[str | None, Query(description="slug or id; may be left out while there is only one")] = None,
) -> Response:
    """The item with this id, on offer or not; `platform` may be left out while there is only one."""
    searched = platform_or_only(services.platforms, platform)
    number = parse_item_id(gear_id)
    stored = None if number is None else await services.engine.item(searched, number)
    if stored is None or number is None or not await _is_visible(services.engine, token, searched, number):
        raise ApiError("item_not_found", f"platform {searched.id} has no item {gear_id[:40]!r}")
    available = stored.price is not None and not await services.availability.bound_among([(number, searched.id)])
    return json_response({"gear": stored.item, "available": available})


async def _is_visible(engine: Engine, token: Token, platform: Platform, number: int) -> bool:
    """Whether the item meets the filters that the token forces."""
    forced = forced_clauses(forced_filters(token), [platform])
    if not forced:
        return True
    query = {"bool": {"filter": [{"ids": {"values": [str(number)]}}, *forced]}}
    return total_of(await engine.search([platform], probe(query))) > 0
