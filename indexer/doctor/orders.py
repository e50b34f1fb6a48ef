"""Checks the orders' database, and a serving index against the orders."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from opensearchpy import OpenSearch

from indexer.doctor.findings import Code, Finding, Severity, TellClaims, fix_command
from indexer.orders.agreement import Agreement, Disagreement, Tally
from store.connection.address import database_address
from store.connection.engine import Store
from store.connection.errors import NOT_MIGRATED, StoreUnavailable
from store.outbox.index_outbox import OverdueUpdates, overdue

LATE_AFTER = timedelta(seconds=60)
_MIGRATE = "gear-api migrate"


@dataclass(frozen=True)
class Orders:
    """The orders' database; it is opened for one look and closed again."""

    url: str

    def is_no_file_yet(self) -> bool:
        """Whether it is a file that does not exist; opening it would make one."""
        address = database_address(self.url)
        return address.get_backend_name() == "sqlite" and not Path(address.database or "").exists()

    async def fault(self) -> Finding | None:
        """What keeps the orders from being read."""
        if self.is_no_file_yet():
            return database_fault(NOT_MIGRATED)
        store = Store(self.url)
        try:
            await store.check()
        except StoreUnavailable as error:
            return database_fault(error.cause)
        finally:
            await store.close()
        return None

    async def late(self, platform: int) -> OverdueUpdates:
        """What should have been told to the index a minute ago."""
        store = Store(self.url)
        try:
            async with store.reading() as connection:
                return await overdue(connection, platform, datetime.now(UTC) - LATE_AFTER)
        finally:
            await store.close()

    async def compare(
        self, client: OpenSearch, platform: int, index: str, window: int, *, repair: bool = False
    ) -> Disagreement:
        """On what the index, of which a page has at most `window` items, and the orders disagree."""
        store = Store(self.url)
        try:
            return await Agreement(client, store, platform, index, window).compare(repair=repair)
        finally:
            await store.close()


def database_fault(cause: str) -> Finding:
    """The finding for a database that cannot be asked, by the store's own words."""
    unmigrated = cause == NOT_MIGRATED
    return Finding(
        code=Code.DATABASE_UNMIGRATED if unmigrated else Code.DATABASE_UNREACHABLE,
        severity=Severity.ERROR,
        subject="database",
        message=f"the orders cannot be read (GEAR_DATABASE_URL): {cause}",
        remedy=_MIGRATE if unmigrated else "set right what the message names; where nothing is wrong there, try again",
    )


def check_late(platform: int, late: OverdueUpdates, now: datetime) -> list[Finding]:
    """Rows that no API process takes up."""
    if late.since is None:
        return []
    minutes = (now - late.since).total_seconds() / 60
    return [
        Finding(
            code=Code.MASKS_BEHIND,
            severity=Severity.ERROR,
            platform=platform,
            subject="masks",
            message=f"{late.items:,} items were ordered or let go up to {minutes:,.0f} minutes ago and the index was "
            "not told: no API process runs, or it does not reach the engine",
            remedy="gear-api serve",
        )
    ]


def check_disagreement(platform: int, index: str, window: int, found: Disagreement) -> list[Finding]:
    """Sold items on offer, and free ones that nobody finds."""
    sides: tuple[tuple[Code, Tally, Callable[[str, str], str]], ...] = (
        (
            Code.SOLD_BUT_OFFERED,
            found.offered,
            lambda count, first: f"{count} items that active orders hold are offered in {index}: {first}",
        ),
        (
            Code.FREE_BUT_HIDDEN,
            found.hidden,
            lambda count, first: f"{count} items that no active order holds are hidden in {index}: {first}",
        ),
    )
    return [
        Finding(
            code=code,
            severity=Severity.ERROR,
            platform=platform,
            subject=index,
            message=sentence(f"{tally.items:,}", _named(tally)),
            remedy=fix_command(platform),
            repair=TellClaims(index, window),
        )
        for code, tally, sentence in sides
        if tally.items
    ]


def _named(tally: Tally) -> str:
    return ", ".join(str(item) for item in tally.first) + (", …" if tally.items > len(tally.first) else "")
