"""Checks the orders' database, and a serving index against the orders."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from opensearchpy import OpenSearch

from indexer.doctor.findings import Code, Finding, Severity, TellClaims, fix_command
from indexer.orders.agreement import Agreement, Disagreement, Tally
from indexer.orders.database import OrdersDatabase
from store.connection.engine import Store
from store.connection.errors import NOT_MIGRATED, StoreUnavailable
from store.outbox.index_outbox import OverdueUpdates, overdue

LATE_AFTER = timedelta(seconds=60)
_MIGRATE = "gear-api migrate"


@dataclass(frozen=True)
class Orders:
    """What the doctor reads of the orders' database."""

    database: OrdersDatabase

    def fault(self) -> Finding | None:
        """What keeps the orders from being read."""
        if self.database.is_missing:
            return database_fault(NOT_MIGRATED)
        try:
            self.database.run(lambda store: store.check())
        except StoreUnavailable as error:
            return database_fault(error.cause)
        return None

    def late(self, platform: int) -> OverdueUpdates:
        """What should have been published to the index a minute ago."""

        async def read(store: Store) -> OverdueUpdates:
            async with store.reading() as connection:
                return await overdue(connection, platform, datetime.now(UTC) - LATE_AFTER)

        return self.database.run(read)

    def compare(
        self, client: OpenSearch, platform: int, index: str, window: int, *, repair: bool = False
    ) -> Disagreement:
        """On what the index, of which a page has at most `window` items, and the orders disagree."""
        return Agreement(client, self.database, platform, index, window).compare(repair=repair)


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
            code=Code.INDEX_SYNC_PENDING,
            severity=Severity.ERROR,
            platform=platform,
            subject="masks",
            message=f"{late.items:,} items were ordered or let go up to {minutes:,.0f} minutes ago and the index was "
            "not told: no API process runs, or it does not reach the engine",
            remedy="gear-api serve",
        )
    ]


def check_disagreement(platform: int, index: str, window: int, disagreement: Disagreement) -> list[Finding]:
    """Sold items on offer, and free ones that nobody finds."""
    sides: tuple[tuple[Code, Tally, Callable[[str, str], str]], ...] = (
        (
            Code.SOLD_BUT_OFFERED,
            disagreement.offered,
            lambda count, first: f"{count} items that active orders hold are offered in {index}: {first}",
        ),
        (
            Code.FREE_BUT_HIDDEN,
            disagreement.hidden,
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
