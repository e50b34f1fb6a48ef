"""The route of the change feed. It goes before that of a single item, whose id `changes` would be."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse

from api import current_request
from api.auth import SearchToken, valid_token
from api.changes import bookmark
from api.changes.log import ChangePage, Subscription
from api.changes.schemas import EVENT, ChangesBody, ChangesResponse, context_of
from api.changes.tail import Tail
from api.current_request import Arrival
from api.engine.client import Engine
from api.errors import ERRORS, ApiError, invalid
from api.http.dependencies import NoQuery, refuse_get, service
from api.http.json_body import body_of, request_body
from api.http.openapi import BODY_ERRORS, responses
from api.search.forced_filters import forced_filters
from api.token_cache import TokenCache
from mappings.platforms import Platforms
from store.auth.tokens import Token
from store.connection.errors import StoreUnavailable
from store.records import LogPosition

router = APIRouter(tags=["search"])
STREAM: Final = "text/event-stream"  # server-sent events (WHATWG HTML, 9.2)
HEARTBEAT_SECONDS: Final = 15.0  # shorter than proxies wait for the next byte


@dataclass(frozen=True)
class ChangeServices:
    engine: Engine
    platforms: Platforms
    tail: Tail
    token_cache: TokenCache


ChangeDependency = Annotated[ChangeServices, Depends(service(ChangeServices))]


@router.post(
    "/v1/gear/changes",
    summary="What came, changed and went",
    responses=responses(
        ChangesResponse,
        *BODY_ERRORS,
        "bookmark_expired",
        "unknown_platform",
        "search_unavailable",
        texts={STREAM: EVENT},
    ),
    openapi_extra=request_body(ChangesBody),
)
async def list_changes(
    request: Request,
    token: SearchToken,
    _: NoQuery,
    body: Annotated[ChangesBody, Depends(body_of(ChangesBody))],
    services: ChangeDependency,
) -> Response:
    """The changes of what a search with this query and these filters finds, in their order: `listed` is an item that
    it finds from now on, `gone` one that it does not find any more, `changed` one whose content is another. The
    binding of an item by an order is `gone`, its release `listed`. A reload of the catalogue adds only what differs.

    Without `since` the feed starts now: ask for it first, then read all items by a cursor, then apply the changes from
    `next` on. With `wait` the response comes with the first change. `Accept: text/event-stream` sends each change as an
    event as soon as it is known, with the bookmark as its `id`; a `Last-Event-ID` header goes before `since`.

    A stream is a POST with a token, which a browser's `EventSource` cannot send: read it by `fetch`. After the changes
    of a page, and every 15 seconds without one, comes an event with an `id` alone: the bookmark to go on from.

    Bookmarks are good for 24 hours at least. After a 410 `bookmark_expired` read all items again.
    """
    subscription = _subscription(services, token, body)
    is_stream = STREAM in request.headers.get("accept", "")
    if is_stream and body.wait:
        raise invalid("wait", "a stream waits by itself: leave it out")
    since = None if body.since is None else bookmark.decode(body.since)
    last_event = request.headers.get("last-event-id") if is_stream else None
    if last_event is not None:
        since = bookmark.decode(last_event, "Last-Event-ID")
    tail = services.tail
    if since is None:
        since = (await tail.recorded()).end
    page, seq = await tail.next_page(subscription, since, body.limit, body.wait)
    if is_stream:
        stream = _events(tail, subscription, page, seq, body.limit, partial(_check, request, services))
        return StreamingResponse(stream, media_type=STREAM)
    if body.wait:
        await _check(request, services)
    return Response(page.response(seq, body.limit), media_type="application/json")


router.get("/v1/gear/changes", include_in_schema=False)(refuse_get)  # which else would be the item `changes`


def _subscription(services: ChangeServices, token: Token, body: ChangesBody) -> Subscription:
    """Raises ApiError for an unknown platform, and for prices that do not compare."""
    context = context_of(services.engine, services.platforms, body, forced_filters(token))
    return Subscription(
        key=(token.filters, body.model_dump_json(exclude={"since", "limit", "wait"}).encode()),
        offered=context.query.offered,
        platforms=tuple(platform.id for platform in context.platforms),
        with_platform=len(context.platforms) > 1,
    )


async def _events(
    tail: Tail, subscription: Subscription, page: ChangePage, seq: int, limit: int, check: Callable[[], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """The page and what follows it, until the server stops or `check` raises; the client then resumes."""
    try:
        while True:
            page = page.after(seq, limit)
            yield _events_of(page)
            if tail.is_closed:
                return
            current_request.start(Arrival(asyncio.get_running_loop().time()))  # each page has its own time
            page, seq = await tail.next_page(subscription, page.end, limit, HEARTBEAT_SECONDS)
            await check()
    except ApiError as error:
        yield _error(error)
    except StoreUnavailable:
        yield _error(ApiError("store_unavailable"))


def _events_of(page: ChangePage) -> bytes:
    """The changes, and where the reader is: without data an `id` is no event, but is remembered all the same."""
    listed = b"".join(
        b"id: %b\ndata: %b\n\n" % (bookmark.encode(LogPosition(page.end.segment, change.seq)).encode(), change.content)
        for change in page.changes
    )
    return listed + b"id: %b\n\n" % bookmark.encode(page.end).encode()


def _error(error: ApiError) -> bytes:
    content = {"code": error.code, "message": error.message or ERRORS[error.code][1]}
    return b"event: error\ndata: %b\n\n" % orjson.dumps(content)


async def _check(request: Request, services: ChangeServices) -> None:
    """A token that was revoked while its reader waited reads nothing more; raises ApiError `unauthorized`."""
    plaintext = request.headers["authorization"].partition(" ")[2].strip()
    await valid_token(request, services.token_cache, plaintext, allow_stale=True)
