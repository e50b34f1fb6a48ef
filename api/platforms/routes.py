"""The route of `GET /v1/platforms`, with the limits of requests: the constants that they are checked with."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from api.auth import SearchToken
from api.background.tasks import gather_or_cancel
from api.catalogue import body as catalogue
from api.catalogue.service import ITEMS_PER_COST
from api.changes.schemas import MAX_CHANGES, MAX_WAIT_SECONDS
from api.cheapest.schemas import MAX_ORDERS
from api.engine.client import Engine
from api.engine.responses import total_of
from api.errors import ERRORS
from api.http.dependencies import NoQuery, service
from api.http.fields import MAX_URL_CHARACTERS
from api.http.json_body import MAX_BODY_BYTES, json_response
from api.http.openapi import TOKEN_ERRORS, responses
from api.http.protocol import MAX_TARGET_BYTES
from api.orders import schemas as orders
from api.orders.placing.idempotency import MAX_KEY_CHARACTERS
from api.platforms.schemas import PlatformsResponse
from api.rate_limits.limits import rate_of
from api.search import costs
from api.search.context import forced_clauses
from api.search.forced_filters import forced_filters
from api.search.pagination.point_in_time import KEEP_SECONDS, MAX_AGE_SECONDS
from api.search.schemas.facets import MAX_VALUES
from api.search.schemas.search import (
    DEFAULT_LIMIT,
    DEFAULT_SUGGESTIONS,
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    MAX_SUGGEST_CHARACTERS,
    MAX_SUGGESTIONS,
    PAGE_WINDOW,
)
from api.search.schemas.values import MAX_VALUE_CHARACTERS
from api.settings import Settings
from mappings.fields import FACETS, FILTERS, OFFERED, SORTS, Filter, Kind
from mappings.items.item import MAX_NAME_CHARACTERS
from mappings.money import MAX_PRICE
from mappings.names import Generation
from mappings.platforms import Platform, Platforms
from mappings.timestamps import rfc3339
from store.auth.tokens import Token

router = APIRouter(tags=["search"])

# what a kind is called, and its bounds besides the number of values, which a range has none of
_KINDS: dict[Kind, tuple[str, dict[str, int]]] = {
    Kind.FOLDED: ("values", {"maxCharacters": MAX_VALUE_CHARACTERS}),
    Kind.EXACT: ("names", {"maxCharacters": MAX_NAME_CHARACTERS}),
    Kind.INTEGER: ("integers", {}),
    Kind.MONEY: ("range", {"minimum": 0, "maximum": int(MAX_PRICE)}),
    Kind.RANGE: ("range", {"minimum": 0, "maximum": 1}),
    Kind.ATTACHMENTS: ("attachments", {"maxCharacters": MAX_VALUE_CHARACTERS, "minimum": 0, "maximum": 1}),
}


@dataclass(frozen=True)
class PlatformServices:
    settings: Settings
    engine: Engine
    platforms: Platforms


PlatformDependency = Annotated[PlatformServices, Depends(service(PlatformServices))]


@router.get(
    "/v1/platforms",
    summary="The platforms, and every limit, sort and error code",
    responses=responses(PlatformsResponse, *TOKEN_ERRORS, "search_unavailable"),
)
async def list_platforms(token: SearchToken, _: NoQuery, services: PlatformDependency) -> Response:
    """What is on offer of each platform and since when, and the limits of requests as data."""
    platforms = list(services.platforms)
    serving = await services.engine.generations(platforms)
    entries = await gather_or_cancel(
        *(_entry(services.engine, platform, serving.get(platform.id), token) for platform in platforms)
    )
    return json_response({"platforms": entries, **limits(services.settings, token)})


async def _entry(engine: Engine, platform: Platform, serving: Generation | None, token: Token) -> dict[str, Any]:
    return {
        "id": platform.id,
        "slug": platform.slug,
        "name": platform.name,
        "currency": platform.currency,
        "items": 0 if serving is None else await _items(engine, platform, token),
        "indexedAt": None if serving is None else rfc3339(serving.created_at),
        "filters": [filter_entry(row) for row in FILTERS],
    }


async def _items(engine: Engine, platform: Platform, token: Token) -> int:
    """How many items are on offer to the token."""
    query = {"bool": {"filter": [OFFERED, *forced_clauses(forced_filters(token), [platform])]}}
    request = {"size": 0, "track_total_hits": True, "query": query}
    return total_of(await engine.search([platform], request))


def filter_entry(row: Filter) -> dict[str, Any]:
    kind, bounds = _KINDS[row.kind]
    values = {} if kind == "range" else {"maxValues": row.max_values}
    return {"name": row.name, "kind": kind, **values, **bounds, "facet": row.facet}


def limits(settings: Settings, token: Token) -> dict[str, Any]:
    """The sorts, the limits and the error codes of all operations, as they are for this token."""
    return {
        "sorts": [sort.name for sort in SORTS],
        "limits": {
            "bodyBytes": MAX_BODY_BYTES,
            "targetBytes": MAX_TARGET_BYTES,
            "queryCharacters": MAX_QUERY_CHARACTERS,
            "limit": MAX_LIMIT,
            "defaultLimit": DEFAULT_LIMIT,
            "pageWindow": PAGE_WINDOW,
            "cursorSeconds": round(KEEP_SECONDS),
            "cursorAgeSeconds": round(MAX_AGE_SECONDS),
            "facets": len(FACETS),
            "facetValues": MAX_VALUES,
            "suggestCharacters": MAX_SUGGEST_CHARACTERS,
            "suggestLimit": MAX_SUGGESTIONS,
            "defaultSuggestLimit": DEFAULT_SUGGESTIONS,
            "accountCharacters": orders.MAX_ACCOUNT_CHARACTERS,
            "emailCharacters": orders.MAX_EMAIL_CHARACTERS,
            "codeCharacters": orders.MAX_CODE_CHARACTERS,
            "attributionCharacters": orders.MAX_ATTRIBUTION_CHARACTERS,
            "urlCharacters": MAX_URL_CHARACTERS,
            "idempotencyKeyCharacters": MAX_KEY_CHARACTERS,
            "requestRate": rate_of(token, settings.rate_limit) or None,
            "addressRequestRate": settings.address_rate_limit or None,
            "searchesUnderWay": settings.max_searches_per_token,
            "savedSearches": settings.max_saved_searches,
            "changesLimit": MAX_CHANGES,
            "changesWaitSeconds": MAX_WAIT_SECONDS,
            "changesKeptSeconds": round(settings.changes_retention.total_seconds()),
            "cheapestCount": MAX_ORDERS,
            "pageCost": costs.PAGE_COST,
            "facetsCost": costs.FACETS_COST,
            "groupsCost": costs.GROUPS_COST,
            "sortedGroupsCost": costs.SORTED_GROUPS_COST,
            "relaxedWordCost": costs.RELAXED_WORD_COST,
            "suggestionsCost": costs.SUGGESTIONS_COST,
            "pricesCost": costs.PRICES_COST,
            "catalogueBodyBytes": catalogue.MAX_BODY_BYTES,
            "catalogueItems": catalogue.MAX_ITEMS,
            "catalogueItemsPerCost": ITEMS_PER_COST,
        },
        "errors": [{"code": code, "status": status, "message": message} for code, (status, message) in ERRORS.items()],
    }
