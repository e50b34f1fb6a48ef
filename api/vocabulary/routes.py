"""Routes of the vocabulary at run time, and of searches without results."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response

from api.auth import CatalogueToken
from api.engine.client import Engine
from api.errors import ApiError
from api.http.dependencies import NoQuery, only_query, service
from api.http.fields import ResourceId
from api.http.json_body import body_of, json_response, request_body
from api.http.openapi import BODY_ERRORS, TOKEN_ERRORS, responses
from api.known_platforms import known_platform, platform_or_only
from api.search.unanswered import first_day, unanswered_entry
from api.vocabulary import entries, schemas
from api.vocabulary.schemas import MAX_UNANSWERED, VocabularyBody, VocabularyTestBody
from api.vocabulary.trial import compare
from mappings.platforms import Platforms
from store import unanswered_searches
from store.connection.engine import Store
from store.retention_days import SEARCHES_DAYS

router = APIRouter(tags=["vocabulary"])
PlatformParameter = Annotated[str | None, Query(description="slug or id of a platform; all platforms where absent")]


@dataclass(frozen=True)
class VocabularyServices:
    engine: Engine
    platforms: Platforms
    store: Store


VocabularyDependency = Annotated[VocabularyServices, Depends(service(VocabularyServices))]


@router.get(
    "/v1/vocabulary",
    summary="What operators have added to the vocabulary",
    responses=responses(schemas.VocabularyResponse, *TOKEN_ERRORS, "unknown_platform"),
)
async def list_vocabulary(
    token: CatalogueToken,
    _: Annotated[None, Depends(only_query("platform"))],
    services: VocabularyDependency,
    platform: PlatformParameter = None,
) -> Response:
    """The terms, pins and hides that apply, those added first before."""
    platform_filter = None if platform is None else known_platform(services.platforms, platform)
    rows = await entries.read(services.store, platform_filter)
    return json_response({"entries": [entries.described(row) for row in rows]})


@router.post(
    "/v1/vocabulary",
    summary="Add to the vocabulary",
    status_code=201,
    responses=responses(schemas.VocabularyEntryResponse, *BODY_ERRORS, "unknown_platform", status=201),
    openapi_extra=request_body(VocabularyBody),
)
async def add_vocabulary(
    token: CatalogueToken,
    _: NoQuery,
    body: Annotated[VocabularyBody, Depends(body_of(VocabularyBody))],
    services: VocabularyDependency,
) -> Response:
    """Adds a term, a pin or a hide. Every worker applies it within 5 seconds; at most 1,000 apply at once.

    A spelling that has a meaning already gets one more. A pin breaks no filter, no amount and no exclusion. What is
    hidden can still be read and ordered by its id.
    """
    platform = platform_or_only(services.platforms, body.platform)
    row = await entries.add(services.store, platform, body, token.actor)
    return json_response({"entry": entries.described(row)}, 201, {"Location": f"/v1/vocabulary/{row.id}"})


@router.delete(
    "/v1/vocabulary/{id}",
    summary="Remove from the vocabulary",
    responses=responses(schemas.RemovedResponse, *TOKEN_ERRORS, "not_found"),
)
async def remove_vocabulary(
    entry_id: Annotated[ResourceId, Path(alias="id", description="the entry's id")],
    token: CatalogueToken,
    _: NoQuery,
    services: VocabularyDependency,
) -> Response:
    """Removes an entry; every worker forgets it within 5 seconds."""
    if not await entries.remove(services.store, entry_id, token.actor):
        raise ApiError("not_found", f"no entry that applies has the id {entry_id[:40]!r}")
    return json_response({"removed": entry_id})


@router.post(
    "/v1/vocabulary/test",
    summary="Try an entry of the vocabulary",
    responses=responses(schemas.VocabularyTestResponse, *BODY_ERRORS, "unknown_platform", "search_unavailable"),
    openapi_extra=request_body(VocabularyTestBody),
)
async def try_vocabulary(
    token: CatalogueToken,
    _: NoQuery,
    body: Annotated[VocabularyTestBody, Depends(body_of(VocabularyTestBody))],
    services: VocabularyDependency,
) -> Response:
    """What a text finds as it is, and with the entry; nothing is changed."""
    platform = platform_or_only(services.platforms, body.platform)
    rows = list(await entries.read(services.store, platform))
    entry = entries.stored(body)
    return json_response(await compare(services.engine, services.platforms, platform, body.query, rows, entry))


@router.get(
    "/v1/searches/unanswered",
    summary="Searches without results",
    responses=responses(schemas.UnansweredResponse, *TOKEN_ERRORS, "unknown_platform"),
)
async def list_unanswered_searches(
    token: CatalogueToken,
    _: Annotated[None, Depends(only_query("platform", "days", "limit"))],
    services: VocabularyDependency,
    platform: PlatformParameter = None,
    days: Annotated[int, Query(ge=1, le=SEARCHES_DAYS, description="of so many days")] = SEARCHES_DAYS,
    limit: Annotated[int, Query(ge=1, le=MAX_UNANSWERED, description="how many texts at most")] = 100,
) -> Response:
    """Texts that found nothing, or not all of what they say, the most frequent first: counted by day without who
    searched, and kept for 30 days.
    """
    platform_id = None if platform is None else known_platform(services.platforms, platform).id
    async with services.store.reading() as connection:
        rows = await unanswered_searches.read(connection, first_day(days), platform_id, limit)
    return json_response({"searches": [unanswered_entry(each) for each in rows]})
