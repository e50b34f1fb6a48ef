"""When the request at hand arrived, so that what it waits for has only the time that is left."""

import asyncio
from contextvars import Context, ContextVar, copy_context
from dataclasses import dataclass

from api.http.request_id import forget_request


@dataclass
class Arrival:
    """The moment at which a request had arrived, on the event loop's clock."""

    at: float


_arrival: ContextVar[Arrival | None] = ContextVar("arrival", default=None)


def start(arrival: Arrival) -> None:
    """Begins the request that arrived then, in the current task."""
    _arrival.set(arrival)


def seconds_left(seconds: float) -> float:
    """What is left of so many seconds from the request's arrival; all of them outside of a request."""
    arrival = _arrival.get()
    return seconds if arrival is None else max(0.0, arrival.at + seconds - asyncio.get_running_loop().time())


def without_request() -> Context:
    """The context of a task that outlives the request which starts it."""
    context = copy_context()
    context.run(_arrival.set, None)
    context.run(forget_request)
    return context
