"""The route of the price list. It goes before that of a single item, whose id `prices` would be."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from api.auth import SearchToken
from api.engine.client import Engine
from api.engine.errors import PitGoneError
from api.engine.responses import Json
from api.errors import ApiError
from api.http.dependencies import only_query, service, service_of
from api.http.negotiation import is_unchanged
from api.http.openapi import TOKEN_ERRORS, responses
from api.known_platforms import platform_or_only
from api.rate_limits.limits import RateLimits
from api.search.context import search_context
from api.search.costs import PRICES_COST
from api.search.forced_filters import forced_filters
from api.search.pagination.point_in_time import PointsInTime
from api.search.prices.price_list import price_list_rows
from api.search.prices.price_lists import PriceLists
from api.search.prices.representation import NDJSON, representation_of
from api.search.schemas.search import Offers, SearchBody
from mappings.platforms import Platform, Platforms
from store.auth.tokens import Token

router = APIRouter(tags=["search"])


@dataclass(frozen=True)
class PriceServices:
    engine: Engine
    platforms: Platforms
    points_in_time: PointsInTime
    price_lists: PriceLists


PriceDependency = Annotated[PriceServices, Depends(service(PriceServices))]


class PriceRow(Offers):
    """A name on offer: how many items have it, and what their prices and floats span."""

    name: str
    price_median: float | None = Field(
        alias="priceMedian", description="the price in the middle, the lower of two; null where none has a price"
    )


class PricesResponse(BaseModel):
    """Every name on offer."""

    status: Literal["success"]
    prices: list[PriceRow] = Field(description="in an order that stays the same")


ROW = (
    '{"name":"AK-47 | Redline (Field-Tested)","count":214,"priceMin":20.9,"priceMedian":21.4,"priceMax":48.0,'
    '"floatMin":0.1502,"floatMax":0.3798}\n'
)


RESPONSES = responses(PricesResponse, *TOKEN_ERRORS, "unknown_platform", "search_unavailable", texts={NDJSON: ROW})
_headers = RESPONSES[200]["headers"]
_headers["ETag"] = {"schema": {"type": "string"}}
RESPONSES[304] = {"description": "the list has the tag of `If-None-Match`", "headers": _headers}


@router.get("/v1/gear/prices", summary="The prices of every name on offer", responses=RESPONSES)
async def get_prices(
    token: SearchToken,
    request: Request,
    _: Annotated[None, Depends(only_query("platform"))],
    services: PriceDependency,
    platform: Annotated[str | None, Query(description="slug or id; may be left out while there is only one")] = None,
) -> Response:
    """One document with all names, at most ten seconds old. `If-None-Match` with its `ETag` is answered with a 304
    while nothing in it has changed. `Accept: application/x-ndjson` gives a line a name, `Accept-Encoding: gzip` fewer
    bytes.
    """
    listed = platform_or_only(services.platforms, platform)
    key = (listed.id, token.filters)
    prices = await services.price_lists.current(key, listed)
    if prices is None:
        with service_of(request, RateLimits).search_slot(request.scope, token) as charge:
            await charge(PRICES_COST)
            prices = await services.price_lists.make(key, listed, lambda: _rows(services, token, listed))
    headers = request.headers
    representation = representation_of(headers.get("accept", ""), headers.get("accept-encoding", ""))
    etag = representation.etag(prices.digest)
    fields = {"ETag": etag, "Vary": "Accept, Accept-Encoding"}
    if is_unchanged(headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=fields)
    if representation.gzip:
        fields["Content-Encoding"] = "gzip"
    content = representation.content(prices.pieces())
    return StreamingResponse(content, headers=fields, media_type=representation.media_type)


async def _rows(services: PriceServices, token: Token, platform: Platform) -> AsyncIterator[Json]:
    """The rows as of one point in time."""
    body = SearchBody(platform=platform.id)
    context = search_context(services.engine, services.platforms, body, forced_filters(token))
    pit = await services.points_in_time.open(context.platforms)
    try:
        async for row in price_list_rows(pit, context.query.offered, platform.minor_digits):
            yield row
    except PitGoneError as error:  # its index was removed, or its node has died
        raise ApiError("search_unavailable", "the catalogue was replaced meanwhile: ask again") from error
    finally:
        await services.points_in_time.discard(pit)
