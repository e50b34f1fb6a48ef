"""The routes of `PUT` and `DELETE /v1/catalogue/{platform}/items`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from api.auth import CatalogueToken
from api.catalogue.body import JSON, NDJSON, body_sent
from api.catalogue.schemas import UPSERT_BODY, CatalogueResponse, DeleteBody
from api.catalogue.service import Write, WriteAudit, read_deletes, read_puts
from api.catalogue.writers import CatalogueWriters
from api.http.dependencies import only_query, service
from api.http.json_body import json_response, request_body
from api.http.openapi import BODY_ERRORS, responses
from api.known_platforms import known_platform
from api.rate_limits.limits import RateLimits
from mappings.platforms import Platform, Platforms

router = APIRouter(tags=["catalogue"])


@dataclass(frozen=True)
class CatalogueServices:
    platforms: Platforms
    writers: CatalogueWriters
    audit: WriteAudit
    count_items: Callable[[str, int], None]
    rate_limits: RateLimits


CatalogueDependency = Annotated[CatalogueServices, Depends(service(CatalogueServices))]

PATH: Final = "/v1/catalogue/{platform}/items"
RESPONSES: Final = responses(CatalogueResponse, *BODY_ERRORS, "unknown_platform", "search_unavailable")


async def platform_of(
    platform: Annotated[str, Path(description="slug or decimal id", examples=["cs2"])],
    services: CatalogueDependency,
) -> Platform:
    """A dependency: the platform of the path; raises ApiError `unknown_platform`."""
    return known_platform(services.platforms, platform)


Visible = Annotated[
    Literal["true", "false"], Query(description="`true`: answer once searches show it, else they do within a second")
]

Respond = Callable[[str, Callable[[Platform], Write]], Awaitable[Response]]


async def catalogue_write(
    request: Request,
    token: CatalogueToken,
    _: Annotated[None, Depends(only_query("visible"))],
    platform: Annotated[Platform, Depends(platform_of)],
    services: CatalogueDependency,
    visible: Visible = "false",
) -> Respond:
    """A dependency: what writes the items that a function reads, both in a thread, and responds."""

    async def write(verb: str, read: Callable[[Platform], Write]) -> Response:
        changes = await services.writers.run(platform, lambda _: read(platform))
        await services.rate_limits.extra_charge(request.scope, token)(changes.extra_cost)
        response = await services.writers.run(platform, partial(changes.run, visible=visible == "true"))
        services.audit.add(token, platform.slug, verb, response)
        for result in ("written", "superseded"):
            services.count_items(result, response[result])
        services.count_items("refused", len(response["refused"]))
        return json_response(response)

    return write


CatalogueWrite = Annotated[Respond, Depends(catalogue_write)]


@router.put(
    PATH, summary="Put new and changed items", responses=RESPONSES, openapi_extra=UPSERT_BODY, response_class=Response
)
async def put_items(request: Request, write: CatalogueWrite) -> Response:
    """Each item replaces the one with its id, in what serves and in what is being loaded, unless a later change of it
    is known by `changedAt` (superseded), whatever the order of arrival. What breaks a rule is refused with its line;
    all others are written. Items that orders have bound stay bound.

    A retry is safe: the same request changes nothing more. After an error, repeat it.
    """
    sent = await body_sent(request, JSON, NDJSON)
    return await write("put", partial(read_puts, sent))


@router.delete(
    PATH,
    summary="Delete items",
    responses=RESPONSES,
    openapi_extra=request_body(DeleteBody),
    response_class=Response,
)
async def delete_items(request: Request, write: CatalogueWrite) -> Response:
    """Removes items from what serves and from what is being loaded, unless a later change of them is known by
    `changedAt` (superseded). An item that is not there counts as written: it is gone. An order keeps what it has bound.
    """
    sent = await body_sent(request, JSON)
    return await write("delete", lambda _: read_deletes(sent))
