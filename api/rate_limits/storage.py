"""Counts costs within a window of time, in this process or in a storage that workers and hosts share."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string

from api.log import log
from mappings.transport.names import HostName

STORAGE_SECONDS = 0.05  # that a request waits for the shared storage
RETRY_SECONDS = 1.0  # for which a storage that failed is left alone
KEYS_CHECKED = 8  # for their end, at each charge: more than a charge adds
SCHEMES = ("redis", "rediss", "redis+unix")


@dataclass(frozen=True)
class Quota:
    """A limit, whether it admitted a request, what is left of it, and the seconds until more is."""

    limit: RateLimitItem
    admitted: bool
    remaining: int
    reset: int

    @property
    def headers(self) -> dict[str, str]:
        """The fields of draft-ietf-httpapi-ratelimit-headers-06."""
        return {
            "RateLimit-Limit": str(self.limit.amount),
            "RateLimit-Remaining": str(self.remaining),
            "RateLimit-Reset": str(self.reset),
            "RateLimit-Policy": f"{self.limit.amount};w={self.limit.get_expiry()}",
        }


class LocalStorage(MemoryStorage):
    """Counts in this process. A charge looks for ended windows at a few keys; the library's own class looks at all."""

    def __init__(self) -> None:
        super().__init__()
        self._unchecked: list[str] = []

    async def _MemoryStorage__schedule_expiry(self) -> None:  # noqa: N802  # the library's private name for it
        if not self._unchecked:
            self._unchecked = list(self.expirations)
        for _ in range(min(KEYS_CHECKED, len(self._unchecked))):
            await self.get(self._unchecked.pop())  # it removes the key where its window is over


class WindowCounter:
    """Charges keys for costs. While the shared storage is away, this process counts alone."""

    def __init__(
        self,
        url: str,
        on_failure: Callable[[], None],
        *,
        timeout: float = STORAGE_SECONDS,
        retry_after: float = RETRY_SECONDS,
    ) -> None:
        self._local = SlidingWindowCounterRateLimiter(LocalStorage())
        self._storage = open_storage(url) if url else None
        self._shared = None if self._storage is None else SlidingWindowCounterRateLimiter(self._storage)
        self._on_failure = on_failure
        self._timeout = timeout
        self._retry_after = retry_after
        self._away_until = 0.0
        parts = urlsplit(url)
        # A client of Redis looks names up in the event loop's few threads.
        self._name = HostName(parts.hostname, parts.port or 6379) if parts.hostname else None

    async def close(self) -> None:
        if self._storage is not None:
            await self._storage.bridge.get_connection().aclose()  # type: ignore[attr-defined]  # of Redis alone

    async def charge(self, limit: RateLimitItem, key: str, cost: int) -> Quota:
        """Charges a key; nothing is charged that is not admitted. A cost of 0 asks whether 1 would be."""
        if self._shared is not None and time.monotonic() >= self._away_until:
            try:
                async with asyncio.timeout(self._timeout):
                    if self._away_until and self._name is not None:
                        await self._name.addresses(stale=False)
                    quota = await _charged(self._shared, limit, key, cost)
            except (StorageError, TimeoutError, OSError) as error:
                self._away_until = time.monotonic() + self._retry_after
                self._on_failure()
                log.warning(
                    "the storage of rate limits does not answer: this process counts alone", cause=repr(error)[:200]
                )
            else:
                self._away_until = 0.0
                return quota
        return await _charged(self._local, limit, key, cost)


def open_storage(url: str) -> Storage:
    """The storage of a URL; it connects when it is first asked. Raises ValueError for a URL that names none."""
    if urlsplit(url).scheme not in SCHEMES:
        raise ValueError(f"must begin with one of {', '.join(f'{scheme}://' for scheme in SCHEMES)}")
    try:
        storage = storage_from_string(f"async+{url}", wrap_exceptions=True, implementation="redispy")
    except ConfigurationError as error:
        raise ValueError("needs the package redis: pip install '.[redis]' in the checkout") from error
    if not isinstance(storage, Storage):
        raise TypeError(type(storage))
    return storage


async def _charged(counter: SlidingWindowCounterRateLimiter, limit: RateLimitItem, key: str, cost: int) -> Quota:
    admitted = await (counter.hit(limit, key, cost=cost) if cost else counter.test(limit, key))
    reset_at, remaining = await counter.get_window_stats(limit, key)
    return Quota(limit, admitted, remaining, max(0, math.ceil(reset_at - time.time())))
