"""The request at hand: its scope, and when it arrived, so that what it waits for has only the time that is left."""

import asyncio
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass

from starlette.types import Scope


@dataclass
class Arrival:
    """The moment at which a request had arrived, on the event loop's clock."""

    at: float


request_scope: ContextVar[Scope | None] = ContextVar("request", default=None)
"""None outside of a request."""

_HEADERS_KEY = "gear.headers"
_arrival: ContextVar[Arrival | None] = ContextVar("arrival", default=None)


def start(arrival: Arrival) -> None:
    """Begins the request that arrived then, in the current task."""
    _arrival.set(arrival)


def response_headers(scope: Scope) -> dict[str, str]:
    """The headers that `RequestIdMiddleware` adds to the response; whoever handles the request may set more."""
    headers: dict[str, str] = scope.setdefault(_HEADERS_KEY, {})
    return headers


def seconds_left(seconds: float) -> float:
    """What is left of so many seconds from the request's arrival; all of them outside of a request."""
    arrival = _arrival.get()
    return seconds if arrival is None else max(0.0, arrival.at + seconds - asyncio.get_running_loop().time())


def without_request() -> Context:
    """The context of a task that outlives the request which starts it."""
    context = copy_context()
    context.run(_arrival.set, None)
    context.run(request_scope.set, None)
    return context
