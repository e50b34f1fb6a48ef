"""Search routes: requests in, pages of gear, single items and what the service knows of its platforms out."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request, Response

from api.auth import SearchToken
from api.errors import ApiError, invalid
from api.http.fields import parse_item_id
from api.http.json_body import content_of, request_body
from api.http.openapi import Named, answers
from api.http.query_params import only_query
from api.platforms.limits import limits, platform_entry
from api.search.schemas import examples
from api.search.schemas.search import ItemAnswer, PlatformsAnswer, SearchAnswer, SearchBody
from api.search.service import answered
from api.search.suggest.service import DEFAULT_SUGGESTIONS, Limit, OfPlatform, OfText, SuggestAnswer, suggest
from api.services import Services, services_of
from mappings.platforms import Platform, Platforms
from store.bound_items import is_bound

router = APIRouter(tags=["search"])
Held = Annotated[Services, Depends(services_of)]
_no_query = only_query()


def json_response(content: bytes) -> Response:
    """Bytes that are already JSON."""
    return Response(content, media_type="application/json")


@router.post(
    "/v1/gear/search",
    summary="Search gear by text and filters",
    responses=answers(
        SearchAnswer,
        Named(examples.SEARCH_ANSWERS),
        "bad_request",
        "invalid_json",
        "unauthorized",
        "forbidden",
        "body_too_large",
        "unsupported_media_type",
        "validation_failed",
        "unknown_platform",
        "page_window_exceeded",
        "cursor_expired",
        "rate_limited",
        "search_unavailable",
        "store_unavailable",
    ),
    openapi_extra=request_body(SearchBody, examples.SEARCH_BODIES),
)
async def search_gear(token: SearchToken, request: Request) -> Response:
    """Items that have all words of `query` and one of the values of every filter, in the order of `sort`."""
    # called here: as dependencies the three take a quarter of the time of an answer that is kept
    await _no_query(request)
    content = await content_of(request)
    return json_response(await answered(await services_of(request), content))


@router.get("/v1/gear/search", include_in_schema=False)
async def search_gear_by_get() -> Response:
    """Refused: without this it would be the item `search`."""
    raise ApiError("method_not_allowed", headers={"Allow": "POST"})


@router.get(
    "/v1/gear/suggest",
    summary="Suggestions while typing",
    responses=answers(
        SuggestAnswer,
        examples.SUGGEST_ANSWER,
        "unauthorized",
        "forbidden",
        "validation_failed",
        "unknown_platform",
        "rate_limited",
        "search_unavailable",
        "store_unavailable",
    ),
)
async def get_suggestions(
    token: SearchToken,
    _: Annotated[None, Depends(only_query("q", "platform", "limit"))],
    services: Held,
    q: OfText,
    platform: OfPlatform = None,
    limit: Limit = DEFAULT_SUGGESTIONS,
) -> Response:
    """Names, weapons, finishes, sets and stickers that have all words of `q`, the last one as far as it was typed.

    What begins with the whole text comes first, then what most items have; only where nothing has the words, similar
    ones are taken. `item` is a name, `finish` what a weapon is painted with, `sticker` one that is on an item.
    """
    chosen = list(services.platforms) if platform is None else [_platform(platform, services.platforms)]
    # no JSON, so that it is no body of a search
    question = b"suggest %d %d %b" % (-1 if platform is None else chosen[0].id, limit, q.encode())
    kept = await services.answers.found(question)
    if kept is None:
        kept = await services.answers.keep(question, chosen, lambda: suggest(services.engine, chosen, q, limit))
    return json_response(kept)


@router.get(
    "/v1/gear/{id}",
    summary="One item",
    responses=answers(
        ItemAnswer,
        examples.ITEM_ANSWER,
        "unauthorized",
        "forbidden",
        "item_not_found",
        "validation_failed",
        "unknown_platform",
        "rate_limited",
        "search_unavailable",
        "store_unavailable",
    ),
)
async def get_item(
    gear_id: Annotated[str, Path(alias="id", description="the item's id in decimal")],
    token: SearchToken,
    _: Annotated[None, Depends(only_query("platform"))],
    services: Held,
    platform: Annotated[str | None, Query(description="slug or id; may be left out while there is only one")] = None,
) -> Response:
    """The item with this id, on offer or not; `platform` may be left out while there is only one."""
    chosen = _platform(platform, services.platforms)
    number = parse_item_id(gear_id)
    found = None if number is None else await services.engine.item(chosen, number)
    if found is None or number is None:
        raise ApiError("item_not_found", f"platform {chosen.id} has no item {gear_id[:40]!r}")
    async with services.store.reading() as connection:
        bound = await is_bound(connection, chosen.id, number)
    available = found.price is not None and not bound
    return json_response(orjson.dumps({"status": "success", "gear": found.item, "available": available}))


@router.get(
    "/v1/platforms",
    summary="The platforms, and every limit, sort and error code",
    responses=answers(
        PlatformsAnswer,
        examples.PLATFORMS_ANSWER,
        "unauthorized",
        "forbidden",
        "validation_failed",
        "rate_limited",
        "search_unavailable",
        "store_unavailable",
    ),
)
async def get_platforms(token: SearchToken, _: Annotated[None, Depends(only_query())], services: Held) -> Response:
    """What is on offer of each platform and since when, and the limits of requests as data."""
    indexed = await services.engine.indexed(list(services.platforms))
    entries: list[dict[str, Any]] = [platform_entry(one, indexed[one.id]) for one in services.platforms]
    return json_response(orjson.dumps({"status": "success", "platforms": entries, **limits(services.settings)}))


def _platform(reference: str | None, platforms: Platforms) -> Platform:
    if reference is None:
        if len(platforms) > 1:
            raise invalid("platform", f"name one: {platforms.known()}")
        return next(iter(platforms))
    platform = platforms.by_reference(reference)
    if platform is None:
        raise invalid("platform", f"unknown platform; known are {platforms.known()}", "unknown_platform")
    return platform
