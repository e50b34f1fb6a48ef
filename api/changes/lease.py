"""Leases: of all workers one at a time records changes, and one matches them."""

import secrets
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from store.connection.engine import Store
from store.leases import LeaseLostError, Leases


class Lease:
    """A lease that one worker at a time holds for `seconds`; it need not be renewed again within `renew_seconds`."""

    def __init__(self, store: Store, leases: Leases, name: str, seconds: float, renew_seconds: float) -> None:
        self._store = store
        self._leases = leases
        self._name = name
        self._seconds = seconds
        self._renew_seconds = renew_seconds
        self._owner = secrets.token_hex(8)
        self._renewed_at = float("-inf")

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self._renewed_at < self._renew_seconds

    def lose(self) -> None:
        """Notes that another worker has taken over."""
        self._renewed_at = float("-inf")

    async def is_elsewhere(self, connection: AsyncConnection) -> bool:
        return await self._leases.is_elsewhere(connection, self._name, self._owner, datetime.now(UTC))

    async def take(self, prepare: Callable[[AsyncConnection], Awaitable[None]] | None = None) -> bool:
        """Takes or renews it, in the transaction of what prepares its row; False where another worker has it, or there
        is nothing to lease. Raises StoreUnavailable.
        """
        started = time.monotonic()
        async with self._store.transaction() as connection:
            if prepare is not None:
                await prepare(connection)
            now = datetime.now(UTC)
            is_taken = await self._leases.take(connection, self._name, self._owner, now, self._seconds)
        if is_taken:  # after the commit
            self._renewed_at = started
        return is_taken

    async def renew(self) -> None:
        """Renews it unless it is fresh; raises LeaseLostError, StoreUnavailable."""
        if not self.is_fresh and not await self.take():
            raise LeaseLostError

    async def release(self) -> None:
        """Leaves it to another worker at once: else it ends by itself. Raises StoreUnavailable."""
        async with self._store.transaction() as connection:
            await self._leases.release(connection, self._name, self._owner)
