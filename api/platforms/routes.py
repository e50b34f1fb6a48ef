"""The route of `GET /v1/platforms`."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Response

from api.auth import SearchToken
from api.engine.answers import total_of
from api.engine.client import Engine
from api.http.openapi import answers
from api.http.query_params import only_query
from api.platforms.limits import filter_entry, limits
from api.platforms.schemas import PLATFORMS_ANSWER, PlatformsAnswer
from api.search.query.clauses import OFFERED
from api.services import Services, services_of
from mappings.fields import FILTERS
from mappings.platforms import Platform

router = APIRouter(tags=["search"])


@router.get(
    "/v1/platforms",
    summary="The platforms, and every limit, sort and error code",
    responses=answers(
        PlatformsAnswer,
        PLATFORMS_ANSWER,
        "unauthorized",
        "forbidden",
        "validation_failed",
        "rate_limited",
        "search_unavailable",
        "store_unavailable",
    ),
)
async def get_platforms(
    token: SearchToken,
    _: Annotated[None, Depends(only_query())],
    services: Annotated[Services, Depends(services_of)],
) -> Response:
    """What is on offer of each platform and since when, and the limits of requests as data."""
    platforms = list(services.platforms)
    indexed_at = await services.engine.indexed_at(platforms)
    entries = await asyncio.gather(
        *(_entry(services.engine, platform, indexed_at.get(platform.id)) for platform in platforms)
    )
    content = orjson.dumps({"status": "success", "platforms": entries, **limits(services.settings)})
    return Response(content, media_type="application/json")


async def _entry(engine: Engine, platform: Platform, indexed_at: datetime | None) -> dict[str, Any]:
    return {
        "id": platform.id,
        "slug": platform.slug,
        "name": platform.name,
        "currency": platform.currency,
        "items": 0 if indexed_at is None else await _items(engine, platform),
        "indexedAt": None if indexed_at is None else indexed_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "filters": [filter_entry(row) for row in FILTERS],
    }


async def _items(engine: Engine, platform: Platform) -> int:
    """How many items are on offer."""
    request = {"size": 0, "track_total_hits": True, "query": {"bool": {"filter": [OFFERED]}}}
    return total_of(await engine.search([platform], request))
