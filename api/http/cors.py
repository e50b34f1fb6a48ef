"""CORS: web pages of a token's origins may use it (docs/decisions/0060).

Starlette's middleware decides by a list of origins alone, and here each token has its own. A preflight has no token. It
is answered for any origin: it tells nothing, and what follows it is refused unless the token has the origin.
"""

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from api.current_request import response_headers

MAX_AGE_SECONDS = 7200  # of a preflight; browsers keep none for longer
METHODS = "GET, POST, PUT, DELETE"
EXPOSED_HEADERS = (
    "ETag",
    "Idempotent-Replayed",
    "Location",
    "RateLimit-Limit",
    "RateLimit-Policy",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "X-Request-Id",
)


class TokenCors:
    """Answers preflights of `/v1/`; `allow` lets web pages read the responses to tokens that have their origin."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith("/v1/"):
            headers = Headers(scope=scope)
            if scope["method"] == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers:
                await _preflight(headers)(scope, receive, send)
                return
            response_headers(scope)["Vary"] = "Origin"
        await self.app(scope, receive, send)


def allow(scope: Scope, origin: str) -> None:
    """Lets the web pages of an origin read the response, a refusal too."""
    exposed = ", ".join(EXPOSED_HEADERS)
    response_headers(scope).update({"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposed})


def _preflight(headers: Headers) -> Response:
    """No credentials are allowed: the token is a header, and cookies mean nothing here."""
    allowed = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
        "Vary": "Access-Control-Request-Headers",
    }
    if "access-control-request-headers" in headers:  # `*` would not allow Authorization
        allowed["Access-Control-Allow-Headers"] = headers["access-control-request-headers"]
    return Response(status_code=204, headers=allowed)
