"""Leases: which one of all workers does what only one may do at a time.

A lease ends by itself, so a worker that dies holds up no other for long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

MAX_LEASE: Final = timedelta(minutes=10)
"""No lease lasts longer, though the clocks of hosts differ. One that says so was taken by a clock that was wrong, and
is free."""


def is_free(leased_until: ColumnElement[Any], now: Any, latest: Any) -> ColumnElement[bool]:
    """Whether nobody has the lease of a row: it was never taken or has ended, or lasts beyond `latest`, as none does
    but by a wrong clock.
    """
    return or_(leased_until.is_(None), leased_until <= now, leased_until > latest)


class LeaseLostError(Exception):
    """Another worker has taken over, and nothing of the transaction may be committed."""


@dataclass(frozen=True)
class Leases:
    """The leases of a table: rows with `name`, `owner` and `leased_until`. `on_change` is set with each new owner."""

    table: Table
    on_change: Mapping[str, object] = field(default_factory=dict)

    async def take(self, connection: AsyncConnection, name: str, owner: str, now: datetime, seconds: float) -> bool:
        """Takes or renews the lease; False where another owner has it, or there is no such row."""
        columns, until = self.table.c, now + timedelta(seconds=seconds)
        statement = update(self.table).where(columns.name == name)
        renewed = await connection.execute(statement.where(columns.owner == owner).values(leased_until=until))
        if renewed.rowcount:
            return True
        values = {"owner": owner, "leased_until": until, **self.on_change}
        return bool((await connection.execute(statement.where(self._is_free(now)).values(values))).rowcount)

    async def is_elsewhere(self, connection: AsyncConnection, name: str, owner: str, now: datetime) -> bool:
        columns = self.table.c
        others = columns.name == name, columns.owner != owner, ~self._is_free(now)
        return (await connection.execute(select(columns.name).where(*others))).first() is not None

    async def release(self, connection: AsyncConnection, name: str, owner: str) -> None:
        """Ends the lease where this owner has it."""
        conditions = self.table.c.name == name, self.table.c.owner == owner
        await connection.execute(update(self.table).where(*conditions).values(owner=None, leased_until=None))

    def _is_free(self, now: datetime) -> ColumnElement[bool]:
        return is_free(self.table.c.leased_until, now, now + MAX_LEASE)
