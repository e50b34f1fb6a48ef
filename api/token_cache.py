"""Caches the tokens that the store has confirmed, serves them stale while the store is away, and records their use."""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from datetime import datetime

from cachetools import LRUCache, TTLCache

from api.background.coalescing import Waiters
from api.background.tasks import BackgroundTasks
from store.auth import tokens
from store.auth.tokens import Token
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable

# A revoked token stops working within 5 seconds on every worker, so a cached one is looked up again after this.
FRESH_SECONDS = 2.0
# Without the store, a token goes on working for so long after the store's last word on it.
STALE_SECONDS = 600.0
# A request with a known token waits no longer for the store, and a store that is away is tried again after as long.
LOOKUP_SECONDS = 0.25
MAX_TOKENS = 10_000
UNKNOWN_SECONDS = 2.0  # a text that was no token is not looked up again for so long
USES_SECONDS = 120.0  # between two writes of when tokens were used last


@dataclass
class _Entry:
    token: Token
    confirmed_at: float
    lookup: "asyncio.Task[Token | None] | None" = None
    lookup_at: float = 0.0
    waiters: Waiters = field(default_factory=Waiters)


class TokenCache:
    """The tokens of one worker. Times are in seconds."""

    def __init__(
        self,
        store: Store,
        tasks: BackgroundTasks,
        *,
        fresh_seconds: float = FRESH_SECONDS,
        stale_seconds: float = STALE_SECONDS,
    ) -> None:
        self._store = store
        self._tasks = tasks
        self._fresh_seconds = fresh_seconds
        self._stale_seconds = stale_seconds
        self._entries: LRUCache[bytes, _Entry] = LRUCache(MAX_TOKENS)
        self._lookups: dict[bytes, asyncio.Task[Token | None]] = {}  # under way
        self._unknown: TTLCache[bytes, None] = TTLCache(MAX_TOKENS, UNKNOWN_SECONDS)
        self._last_confirmed_at = -stale_seconds
        self._uses: dict[str, datetime] = {}  # not written yet, by the token's id

    def knows(self, plaintext: str) -> bool:
        """Whether a token of this text was found before."""
        return _digest(plaintext) in self._entries

    async def find(self, plaintext: str, *, allow_stale: bool) -> Token | None:
        """The token of this text, revoked and expired ones too; with `allow_stale` a known one while the store is away.

        Raises StoreUnavailable.
        """
        key = _digest(plaintext)
        if key in self._unknown:
            return None
        entry = self._entries.get(key)
        age = self._stale_seconds if entry is None else time.monotonic() - entry.confirmed_at
        if entry is not None and age <= self._fresh_seconds:
            return entry.token
        if entry is None or not allow_stale or age >= self._stale_seconds:
            return await asyncio.shield(self._lookup(key, plaintext))  # a caller that goes away leaves it to the others
        return await self._refreshed(entry, key, plaintext)

    def serves_without_store(self) -> bool:
        """Whether any token would work without the store."""
        return time.monotonic() - self._last_confirmed_at < self._stale_seconds

    def add_use(self, token: Token, now: datetime) -> None:
        self._uses[token.id] = now

    async def record_uses(self) -> float:
        """Writes when tokens were used last; returns the seconds until the next time. Raises StoreUnavailable."""
        uses, self._uses = self._uses, {}
        if uses:
            try:
                async with self._store.transaction() as connection:
                    await tokens.record_uses(connection, uses)
            except StoreUnavailable:
                self._uses = uses | self._uses
                raise
        return USES_SECONDS

    async def _refreshed(self, entry: _Entry, key: bytes, plaintext: str) -> Token | None:
        """Looks a known token up again, once for all callers; gives the cached one where the store is late."""
        now = time.monotonic()
        if entry.lookup is None or (entry.lookup.done() and now - entry.lookup_at >= LOOKUP_SECONDS):
            entry.lookup, entry.lookup_at = self._lookup(key, plaintext), now
            entry.lookup.add_done_callback(entry.waiters.wake)
        lookup = entry.lookup  # the entry may have the next one before this caller wakes
        if not lookup.done():
            await entry.waiters.wait(max(0.0, entry.lookup_at + LOOKUP_SECONDS - now))
        if not lookup.done() or isinstance(lookup.exception(), StoreUnavailable):
            return entry.token
        return lookup.result()

    def _lookup(self, key: bytes, plaintext: str) -> "asyncio.Task[Token | None]":
        """The lookup of this text that is under way, or a new one: a worker that starts meets many requests at once."""
        lookup = self._lookups.get(key)
        if lookup is None:
            lookup = self._lookups[key] = self._tasks.start(self._look_up(key, plaintext))
            lookup.add_done_callback(lambda _: self._lookups.pop(key))
        return lookup

    async def _look_up(self, key: bytes, plaintext: str) -> Token | None:
        began = time.monotonic()
        try:
            token = await self._read(plaintext)
        except StoreUnavailable:
            if time.monotonic() - began > LOOKUP_SECONDS:
                raise
            token = await self._read(plaintext)  # one lost connection is no outage
        if token is None:
            self._entries.pop(key, None)
            self._unknown[key] = None
            return None
        self._last_confirmed_at = time.monotonic()
        self._entries[key] = _Entry(token, self._last_confirmed_at)
        return token

    async def _read(self, plaintext: str) -> Token | None:
        async with self._store.reading() as connection:
            return await tokens.find(connection, plaintext)


def _digest(plaintext: str) -> bytes:
    return hashlib.sha256(plaintext.encode()).digest()
