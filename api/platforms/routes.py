"""The route of `GET /v1/platforms`."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from api.auth import SearchToken
from api.engine.client import Engine
from api.engine.responses import total_of
from api.http.dependencies import NoQuery, service
from api.http.json_body import json_response
from api.http.openapi import TOKEN_ERRORS, responses
from api.platforms.limits import filter_entry, limits
from api.platforms.schemas import PlatformsResponse
from api.search.context import forced_clauses
from api.search.forced_filters import forced_filters
from api.settings import Settings
from mappings.fields import FILTERS, OFFERED
from mappings.names import Generation
from mappings.platforms import Platform, Platforms
from mappings.timestamps import rfc3339
from store.auth.tokens import Token

router = APIRouter(tags=["search"])


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
    entries = await asyncio.gather(
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
