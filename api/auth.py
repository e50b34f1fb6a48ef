"""Authentication by bearer token, scopes, and who is charged for a request: 401, 403, 429."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPBearer

from api.errors import ApiError
from api.http import cors
from api.http.dependencies import service_of
from api.http.request_id import SENDER_KEY
from api.rate_limits.limits import RateLimits
from api.token_cache import TokenCache
from store.auth.tokens import MAX_ORIGIN_CHARACTERS, Token

# What goes on without the store, with the tokens that it confirmed before.
STORELESS_SCOPES = frozenset({"search", "metrics"})


async def valid_token(request: Request, cache: TokenCache, plaintext: str, *, allow_stale: bool = False) -> Token:
    """The valid token of this text, as `TokenCache.find`; raises ApiError `unauthorized`, `forbidden` for a web page
    that the token is not for, and StoreUnavailable.
    """
    token = await cache.find(plaintext, allow_stale=allow_stale)
    if token is None:
        raise ApiError("unauthorized", "the token is not known")
    _check_origin(request, token)
    now = datetime.now(UTC)
    if not token.usable(now):
        raise ApiError("unauthorized", "the token has been revoked or has expired")
    cache.add_use(token, now)
    return token


def _check_origin(request: Request, token: Token) -> None:
    origin = request.headers.get("origin") if token.origins else None
    if origin is None:
        return
    if origin not in token.origins:
        raise ApiError("forbidden", f"the token does not have the origin {origin[:MAX_ORIGIN_CHARACTERS]!r}")
    cors.allow(request.scope, origin)


class RequireScope(HTTPBearer):
    """A dependency: the request's token, which must have one of these scopes.

    It is the security scheme of the OpenAPI description too: one dependency costs half the time of two.
    """

    def __init__(self, *scopes: str) -> None:
        description = "`Authorization: Bearer gear_…`, made by `gear-api token create`"
        super().__init__(scheme_name="HTTPBearer", description=description, auto_error=False)
        self._scopes = scopes
        self._allow_stale = STORELESS_SCOPES.issuperset(scopes)

    async def __call__(self, request: Request) -> Token:  # type: ignore[override]  # the token, not its text
        """Raises ApiError `unauthorized`, `forbidden`, `rate_limited`."""
        credentials = await super().__call__(request)
        limits = service_of(request, RateLimits)
        if credentials is None:
            await limits.charge_address(request.scope)
            raise ApiError("unauthorized", "send `Authorization: Bearer <token>`")
        token = await _charged_token(request, limits, credentials.credentials, allow_stale=self._allow_stale)
        if token.scopes.isdisjoint(self._scopes):
            scopes = " or ".join(repr(scope) for scope in self._scopes)
            raise ApiError("forbidden", f"the token does not have the scope {scopes}")
        return token


async def _charged_token(request: Request, limits: RateLimits, plaintext: str, *, allow_stale: bool) -> Token:
    """The valid token of this text, charged whatever it may do; the address is charged where there is none, and where
    it is used by another web page: that costs the token's own pages nothing.
    """
    cache = service_of(request, TokenCache)
    if not cache.knows(plaintext):  # one that was found before is worth looking up again
        await limits.charge_address(request.scope, 0)
    try:
        token = await valid_token(request, cache, plaintext, allow_stale=allow_stale)
    except ApiError:
        await limits.charge_address(request.scope)
        raise
    request.scope[SENDER_KEY] = token.id
    await limits.charge_token(request.scope, token)
    return token


async def charge_address(request: Request) -> None:
    """A dependency of open routes; raises ApiError `rate_limited`."""
    await service_of(request, RateLimits).charge_address(request.scope)


search_token = RequireScope("search")
SearchToken = Annotated[Token, Security(search_token)]
OrderToken = Annotated[Token, Security(RequireScope("order"))]
FulfilToken = Annotated[Token, Security(RequireScope("fulfil"))]
CatalogueToken = Annotated[Token, Security(RequireScope("catalogue"))]
OperateToken = Annotated[Token, Security(RequireScope("operate"))]
MetricsToken = Annotated[Token, Security(RequireScope("metrics"))]
OrderOrFulfilToken = Annotated[Token, Security(RequireScope("order", "fulfil"))]
