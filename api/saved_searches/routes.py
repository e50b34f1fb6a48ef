"""The routes of saved searches."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response

from api.auth import SearchToken
from api.changes.schemas import context_of
from api.changes.tail import Tail
from api.engine.clauses import probe
from api.engine.client import Engine
from api.errors import ApiError, Detail, invalid
from api.http.dependencies import NoQuery, only_query, service
from api.http.fields import ResourceId
from api.http.json_body import body_digest, body_of, encode, json_response, parse, request_body
from api.http.openapi import BODY_ERRORS, TOKEN_ERRORS, responses
from api.list_pages import DEFAULT_LIMIT, Cursor, PageLimit, page_of, position_of
from api.saved_searches import schemas
from api.saved_searches.matcher import Matcher
from api.saved_searches.schemas import SavedSearchBody
from api.search.forced_filters import forced_filters
from api.settings import Settings
from api.webhooks.addresses import url_problem
from api.webhooks.endpoints import check_endpoint
from mappings.platforms import Platforms
from mappings.timestamps import rfc3339
from store.auth.tokens import Token
from store.connection.engine import Store
from store.saved_searches import matching, searches
from store.saved_searches.searches import SavedSearch, TooManySearchesError, new_id

router = APIRouter(tags=["searches"])
SearchId = Annotated[ResourceId, Path(alias="id", description="the saved search's id")]


@dataclass(frozen=True)
class SavedSearchServices:
    settings: Settings
    engine: Engine
    platforms: Platforms
    store: Store
    tail: Tail
    matcher: Matcher


SavedSearchDependency = Annotated[SavedSearchServices, Depends(service(SavedSearchServices))]


@router.post(
    "/v1/searches",
    summary="Save a search that calls back",
    status_code=201,
    responses=responses(
        schemas.SavedSearchResponse,
        *BODY_ERRORS,
        "too_many_searches",
        "unknown_platform",
        "search_unavailable",
        status=201,
    ),
    openapi_extra=request_body(SavedSearchBody),
)
async def save_search(
    request: Request,
    token: SearchToken,
    _: NoQuery,
    body: Annotated[SavedSearchBody, Depends(body_of(SavedSearchBody))],
    services: SavedSearchDependency,
) -> Response:
    """Tells `callbackUrl` by signed callbacks `search.matched` what is listed or changed from now on so that it
    matches, within seconds. The same body again is the same search. A token for web pages saves none.
    """
    _refuse_pages(token)
    problem = url_problem(body.callback_url, allow_insecure=services.settings.allow_insecure_callbacks)
    if problem:
        raise invalid("callbackUrl", problem)
    context = context_of(services.engine, services.platforms, body, forced_filters(token))
    # what the engine does not take is refused now
    await context.index.search_all([probe(context.query.offered)])
    begin = (await services.tail.recorded()).end
    now = datetime.now(UTC)
    search = SavedSearch(
        id=new_id(),
        token_id=token.id,
        name=body.name,
        body=encode(request.state.json).decode(),
        body_digest=body_digest(request.state.json),
        callback_url=body.callback_url,
        sandbox=token.sandbox,
        since=begin.seq,
        created_at=now,
    )
    limit = services.settings.max_saved_searches
    try:
        async with services.store.transaction() as connection:
            await check_endpoint(connection, token.id, body.callback_url)
            await matching.begin(connection, services.matcher.name, begin, now)
            search = await searches.add(connection, search, limit)
    except TooManySearchesError as error:
        message = f"the token has {limit} saved searches, which is its limit: delete one"
        raise ApiError("too_many_searches", message, [Detail("name", message)]) from error
    services.matcher.worker.wake()
    return json_response({"search": _entry(search)}, 201, {"Location": f"/v1/searches/{search.id}"})


@router.get(
    "/v1/searches",
    summary="Saved searches, newest first",
    responses=responses(schemas.SavedSearchesResponse, *TOKEN_ERRORS),
)
async def list_saved_searches(
    token: SearchToken,
    _: Annotated[None, Depends(only_query("limit", "cursor"))],
    services: SavedSearchDependency,
    limit: PageLimit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response:
    """A page of the token's own searches."""
    _refuse_pages(token)
    after = position_of(cursor)
    async with services.store.reading() as connection:
        rows = await searches.list_newest(connection, token.id, after, limit + 1)
    page, following = page_of(rows, limit)
    return json_response({"searches": [_entry(search) for search in page], "nextCursor": following})


@router.get(
    "/v1/searches/{id}",
    summary="One saved search",
    responses=responses(schemas.SavedSearchResponse, *TOKEN_ERRORS, "search_not_found"),
)
async def get_saved_search(
    search_id: SearchId, token: SearchToken, _: NoQuery, services: SavedSearchDependency
) -> Response:
    """A search of the token's own."""
    _refuse_pages(token)
    async with services.store.reading() as connection:
        search = await searches.get(connection, token.id, search_id)
    if search is None:
        raise ApiError("search_not_found")
    return json_response({"search": _entry(search)})


@router.delete(
    "/v1/searches/{id}",
    summary="Delete a saved search",
    responses=responses(schemas.RemovedSearchResponse, *TOKEN_ERRORS, "search_not_found"),
)
async def delete_saved_search(
    search_id: SearchId, token: SearchToken, _: NoQuery, services: SavedSearchDependency
) -> Response:
    """Ends the search and the callbacks that it still has."""
    _refuse_pages(token)
    async with services.store.transaction() as connection:
        removed = await searches.remove(connection, token.id, search_id, datetime.now(UTC))
    if not removed:
        raise ApiError("search_not_found")
    return json_response({"removed": search_id})


def _refuse_pages(token: Token) -> None:
    """Raises ApiError `forbidden` for a token that everybody who opens a web page has."""
    if token.origins:
        raise ApiError("forbidden", "a token for web pages, which everybody can read, has no saved searches")


def _entry(search: SavedSearch) -> dict[str, Any]:
    body = parse(search.body.encode())
    return {
        "id": search.id,
        "name": search.name,
        "platform": body.get("platform"),
        "query": body.get("query") or "",
        "filters": body.get("filters"),
        "callbackUrl": search.callback_url,
        "createdAt": rfc3339(search.created_at),
        "gapAt": None if search.gap_at is None else rfc3339(search.gap_at),
    }
