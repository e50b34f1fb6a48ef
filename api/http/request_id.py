"""Request ids: a request in, an id for its answer, its log lines and its error envelope out."""

import re
import secrets
import time
from collections.abc import Callable

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER = "X-Request-Id"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEY = "gear.request_id"

Answered = Callable[[str, str | None, int, float], None]  # method, the route's template, status, seconds

log = structlog.get_logger("gear.api")


def request_id(scope: Scope) -> str:
    """The id of the request that this scope belongs to."""
    if _KEY not in scope:
        offered = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
        scope[_KEY] = offered if _ACCEPTED.fullmatch(offered) else secrets.token_hex(16)
    identity: str = scope[_KEY]
    return identity


class RequestIdMiddleware:
    """Gives every answer its `X-Request-Id`, counts it and writes one log line for it.

    A client's own id is kept when it is 1 to 64 letters, digits, dots, dashes and underscores. The log names the
    route's template and not the path, because the path of a buyer's page is a secret.
    """

    def __init__(self, app: ASGIApp, answered: Answered) -> None:
        self.app = app
        self._answered = answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        identity = request_id(scope)
        began = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = identity
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", None)
            self._answered(scope["method"], route, status, seconds)
            log.info(
                "request",
                requestId=identity,
                method=scope["method"],
                route=route,
                status=status,
                milliseconds=round(seconds * 1000, 1),
            )
