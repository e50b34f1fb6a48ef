"""Authentication by bearer token, scopes and the rate limit of a token: 401, 403, 429."""

import time
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Request, Security
from fastapi.security import HTTPBearer
from limits import RateLimitItem
from limits import parse as parse_rate_limit
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter

from api.errors import ApiError
from api.token_cache import TokenCache
from store.auth.tokens import Token

# What goes on without the store, with the tokens that it confirmed before.
STORELESS_SCOPES = frozenset({"search", "metrics"})


class Authenticator:
    """Finds the tokens of requests and counts their requests."""

    def __init__(self, cache: TokenCache, rate_limit: str) -> None:
        self._cache = cache
        self._limit: RateLimitItem | None = parse_rate_limit(rate_limit) if rate_limit else None
        self._windows = MovingWindowRateLimiter(MemoryStorage())

    async def token(self, plaintext: str, *, stale: bool = False) -> Token:
        """The valid token of this text, as `TokenCache.find`; raises ApiError `unauthorized`, and StoreUnavailable."""
        token = await self._cache.find(plaintext, stale=stale)
        if token is None:
            raise ApiError("unauthorized", "the token is not known")
        if not token.usable(datetime.now(UTC)):
            raise ApiError("unauthorized", "the token has been revoked or has expired")
        return token

    async def count(self, token: Token) -> None:
        """Counts a request; raises ApiError `rate_limited` where the token is at its limit."""
        if self._limit is None or await self._windows.hit(self._limit, token.id):
            return
        reset, _ = await self._windows.get_window_stats(self._limit, token.id)
        wait = max(1, round(reset - time.time() + 0.5))
        raise ApiError("rate_limited", f"more than {self._limit} with this token", headers={"Retry-After": str(wait)})


class Needs(HTTPBearer):
    """A dependency: the request's token, which must have one of these scopes.

    It is the security scheme of the OpenAPI description too: one dependency costs half the time of two.
    """

    def __init__(self, *scopes: str) -> None:
        description = "`Authorization: Bearer gear_…`, made by `gear-api token create`"
        super().__init__(scheme_name="HTTPBearer", description=description, auto_error=False)
        self._scopes = scopes
        self._stale = STORELESS_SCOPES.issuperset(scopes)

    async def __call__(self, request: Request) -> Token:  # type: ignore[override]  # the token, not its text
        """Raises ApiError `unauthorized`, `forbidden`, `rate_limited`."""
        credentials = await super().__call__(request)
        if credentials is None:
            raise ApiError("unauthorized", "send `Authorization: Bearer <token>`")
        authenticator: Authenticator = request.app.state.authenticator
        token = await authenticator.token(credentials.credentials, stale=self._stale)
        if token.scopes.isdisjoint(self._scopes):
            scopes = " or ".join(repr(scope) for scope in self._scopes)
            raise ApiError("forbidden", f"the token does not have the scope {scopes}")
        await authenticator.count(token)
        return token


SearchToken = Annotated[Token, Security(Needs("search"))]
OrderToken = Annotated[Token, Security(Needs("order"))]
MetricsToken = Annotated[Token, Security(Needs("metrics"))]
OrderOrFulfilToken = Annotated[Token, Security(Needs("order", "fulfil"))]
