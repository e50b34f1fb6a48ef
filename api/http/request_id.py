"""Request ids: the middleware that gives each request an id, counts it and logs it."""

import asyncio
import re
import secrets
import time
from collections.abc import Callable

from opentelemetry import trace
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.current_request import request_scope, response_headers
from api.log import log

REQUEST_ID_HEADER = "X-Request-Id"
# nobody reads this status: as nginx logs it where the client did not wait
CLIENT_CLOSED_REQUEST = 499
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEY = "gear.request_id"
SENDER_KEY = "gear.sender"
"""The key of the scope under which authentication leaves the token's id, for the log."""

OnResponse = Callable[[str, str | None, int, float], None]
"""Called with the method, the route's template, the status and the seconds."""


def new_request_id() -> str:
    return secrets.token_hex(16)


def accepted_id(offered: str) -> str:
    """The id that a client offers, or a random one where it does not fit."""
    return offered if _ACCEPTED.fullmatch(offered) else new_request_id()


def request_id(scope: Scope) -> str:
    """The id of the request that this scope belongs to."""
    if _KEY not in scope:
        scope[_KEY] = accepted_id(Headers(scope=scope).get(REQUEST_ID_HEADER, ""))
    identity: str = scope[_KEY]
    return identity


def request_facts() -> dict[str, str]:
    """What log lines say of the request at hand: its id and, once it is known, its token's; empty outside of one."""
    scope = request_scope.get()
    if scope is None:
        return {}
    token = {"token": scope[SENDER_KEY]} if SENDER_KEY in scope else {}
    return {"requestId": request_id(scope), **token}


class RequestIdMiddleware:
    """Gives every response its `X-Request-Id`, its `response_headers` and what browsers and caches must know, reports
    and logs it.

    A client's own id is used when it consists of 1 to 64 letters, digits, dots, dashes and underscores. The log has the
    route's template instead of the path, because the path of a buyer's page is a secret.
    """

    def __init__(self, app: ASGIApp, on_response: OnResponse) -> None:
        self.app = app
        self._on_response = on_response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        identity = request_id(scope)
        request = request_scope.set(scope)
        trace.get_current_span().set_attribute("gear.request_id", identity)
        started = time.perf_counter()
        status = 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in response_headers(scope).items():
                    if name == "Vary":
                        headers.add_vary_header(value)
                    else:
                        headers[name] = value
                headers[REQUEST_ID_HEADER] = identity
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")  # accounts, addresses of buyers' pages, items on offer
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except asyncio.CancelledError:
            status = CLIENT_CLOSED_REQUEST
            raise
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", None)
            self._on_response(scope["method"], route, status, seconds)
            # where no token was accepted, the address says whose it is
            client = {} if SENDER_KEY in scope else {"client": scope["client"][0] if scope.get("client") else None}
            milliseconds = round(seconds * 1000, 1)
            log.info("request", method=scope["method"], route=route, status=status, milliseconds=milliseconds, **client)
            request_scope.reset(request)
