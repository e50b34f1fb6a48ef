"""Changes as server-sent events (WHATWG HTML, 9.2)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

import orjson

from api import deadline
from api.changes.bookmark import Bookmark
from api.changes.log import Page, Subscription
from api.changes.tail import Tail
from api.deadline import Arrival
from api.errors import ERRORS, ApiError
from store.connection.errors import StoreUnavailable

STREAM: Final = "text/event-stream"
HEARTBEAT_SECONDS: Final = 15.0  # shorter than proxies wait for the next byte


async def events(
    tail: Tail, subscription: Subscription, page: Page, seq: int, limit: int, check: Callable[[], Awaitable[None]]
) -> AsyncIterator[bytes]:
    """The page and what follows it, until the server stops or `check` raises; the client then resumes."""
    try:
        while True:
            page = page.after(seq, limit)
            yield _events_of(page)
            if tail.is_closed:
                return
            deadline.start(Arrival(asyncio.get_running_loop().time()))  # each page has its own time
            page, seq = await tail.next_page(subscription, page.end, limit, HEARTBEAT_SECONDS)
            await check()
    except ApiError as error:
        yield _error(error)
    except StoreUnavailable:
        yield _error(ApiError("store_unavailable"))


def _events_of(page: Page) -> bytes:
    """The changes, and where the reader is: without data an `id` is no event, but is remembered all the same."""
    listed = b"".join(
        b"id: %b\ndata: %b\n\n" % (Bookmark(page.end.segment, change.seq).encode().encode(), change.content)
        for change in page.changes
    )
    return listed + b"id: %b\n\n" % page.end.encode().encode()


def _error(error: ApiError) -> bytes:
    content = {"code": error.code, "message": error.message or ERRORS[error.code][1]}
    return b"event: error\ndata: %b\n\n" % orjson.dumps(content)
