"""The operations of the API as calls, and the rule for repeating one. No network."""

from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from gear_client.errors import ConnectionFailedError, GearError

MAX_WAIT_SECONDS = 60.0
"""A longer `Retry-After` is not waited for: the error is raised."""
# Refusals that say that nothing was done.
_NOT_DONE = frozenset({"overloaded", "rate_limited"})
_AWAY = frozenset({502, 503, 504})


@dataclass(frozen=True)
class Call:
    """One request; `repeatable`: sending it twice does what sending it once does."""

    method: str
    path: str
    body: Any = None
    query: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    repeatable: bool = True

    def pause_after(self, error: Exception) -> bool | float:
        """Whether to repeat the call after this error: after so many seconds, or True for the usual pause."""
        if isinstance(error, GearError):
            if error.code not in _NOT_DONE and not (self.repeatable and error.status in _AWAY):
                return False
            if error.retry_after is None:
                return True
            return error.retry_after if error.retry_after <= MAX_WAIT_SECONDS else False
        if isinstance(error, httpx.ConnectError):
            return True
        return self.repeatable and isinstance(error, (httpx.TransportError, ConnectionFailedError))


def get(path: str, **query: Any) -> Call:
    """A call that reads; parameters that are None are left out."""
    return Call("GET", path, query={name: value for name, value in query.items() if value is not None})


def post_query(path: str, body: Any) -> Call:
    """A POST that changes nothing."""
    return Call("POST", path, body)


def write(method: str, path: str, body: Any, *, visible: bool) -> Call:
    """Changes of the catalogue; the same ones again change nothing."""
    return Call(method, path, body, {"visible": "true"} if visible else {})


def order(path: str, body: Any, idempotency_key: str | None) -> Call:
    """A POST that places orders; its key makes repeating it safe."""
    return Call("POST", path, body, headers={"Idempotency-Key": idempotency_key or str(uuid4())})


def remove(path: str) -> Call:
    """A DELETE; where it is sent again, the response may be that there is nothing."""
    return Call("DELETE", path)


def change(path: str, body: Any = None) -> Call:
    """A POST that must not be sent again where it may have been done."""
    return Call("POST", path, body, repeatable=False)
