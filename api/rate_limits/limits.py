"""Charges requests to their token or, without a valid one, to the address they come from."""

import ipaddress
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Protocol

from limits import RateLimitItem
from limits import parse as parse_rate_limit
from starlette.types import Scope

from api.current_request import response_headers
from api.errors import ApiError
from api.rate_limits.storage import Quota, WindowCounter
from store.auth.tokens import Token

Charge = Callable[[int], Awaitable[None]]
"""Charges a token beyond the 1 of its request; raises ApiError `rate_limited`."""


class LimitMetrics(Protocol):
    def count_cost(self, token: str, cost: int) -> None: ...
    def count_refused(self, limit: str, token: str = "") -> None: ...
    def count_storage_failure(self) -> None: ...


class RateLimits:
    """The limits of tokens and of addresses; an empty setting switches its limit off."""

    def __init__(
        self, metrics: LimitMetrics, *, of_tokens: str, of_addresses: str, max_searches: int, storage: str
    ) -> None:
        self._metrics = metrics
        self._counter = WindowCounter(storage, metrics.count_storage_failure)
        self._of_tokens = of_tokens
        self._by_address = _parsed(of_addresses)
        self._max_searches = max_searches
        self._searches: Counter[str] = Counter()  # under way, by token

    async def close(self) -> None:
        await self._counter.close()

    async def charge_token(self, scope: Scope, token: Token, cost: int = 1) -> None:
        """Charges a request to its token; raises ApiError `rate_limited`."""
        self._metrics.count_cost(token.id, cost)
        limit = _parsed(rate_of(token, self._of_tokens))
        if limit is not None and cost:
            quota = await self._counter.charge(limit, f"token:{token.id}", cost)
            if not quota.admitted:
                self._metrics.count_refused("token", token.id)
            _require(scope, quota, "with this token", cost)

    def extra_charge(self, scope: Scope, token: Token) -> Charge:
        """What charges the token, never more than its limit in all: else the request could be answered at no time."""
        charged = 1

        async def charge(cost: int) -> None:
            nonlocal charged
            limit = _parsed(rate_of(token, self._of_tokens))
            cost = cost if limit is None else min(cost, limit.amount - charged)
            charged += cost
            await self.charge_token(scope, token, cost)

        return charge

    async def charge_address(self, scope: Scope, cost: int = 1) -> None:
        """Charges a request without a valid token to its address; raises ApiError `rate_limited`.

        At a cost of 0 only where the address is at its limit, so that no token of it need be looked up.
        """
        address = address_of(scope)
        if self._by_address is None or address is None:
            return
        quota = await self._counter.charge(self._by_address, f"address:{address}", cost)
        if not quota.admitted:
            self._metrics.count_refused("address")
        if cost or not quota.admitted:
            _require(scope, quota, "from this address without a valid token")

    @contextmanager
    def search_slot(self, scope: Scope, token: Token) -> Iterator[Charge]:
        """Takes one of the token's concurrent searches and yields what charges its cost.

        Raises ApiError `rate_limited` where none is left.
        """
        if self._searches[token.id] >= self._max_searches:
            self._metrics.count_refused("searches", token.id)
            message = f"{self._max_searches} searches with this token are under way: wait for one of them"
            raise ApiError("rate_limited", message, headers={"Retry-After": "1"})
        self._searches[token.id] += 1
        try:
            yield self.extra_charge(scope, token)
        finally:
            self._searches[token.id] -= 1
            if not self._searches[token.id]:
                del self._searches[token.id]


def address_of(scope: Scope) -> str | None:
    """Whom an address belongs to: an IPv4 address, or the /64 of an IPv6 one; None for a local socket."""
    client = scope.get("client")
    if not client:
        return None
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return str(client[0])[:64]
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped) if mapped is not None else str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address)


def _require(scope: Scope, quota: Quota, whose: str, cost: int = 1) -> None:
    response_headers(scope).update(quota.headers)
    if quota.admitted:
        return
    # more is left after the reset, all of it after two windows
    wait = max(1, quota.reset) if cost == 1 else 2 * quota.limit.get_expiry()
    message = f"more than {quota.limit} {whose}"
    if cost > 1:
        message += f", and this costs {cost} more: see limits at /v1/platforms"
    raise ApiError("rate_limited", message, headers={"Retry-After": str(wait)})


def rate_of(token: Token, of_all: str) -> str:
    """The limit of a token: that of all tokens, such as `100/second`, or its own amount in the same time."""
    return of_all if token.rate_limit is None else re.sub(r"\d+", str(token.rate_limit), of_all or "1/second", count=1)


@lru_cache(maxsize=1024)
def _parsed(limit: str) -> RateLimitItem | None:
    return parse_rate_limit(limit) if limit else None
