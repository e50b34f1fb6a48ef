"""Checks the orders' database, and a serving index against the orders."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from indexer.doctor.findings import Action, Code, Finding, Repair, fix_command
from indexer.orders.agreement import Disagreement
from indexer.orders.claims import Tally
from indexer.orders.database import OrdersDatabase
from store.connection.engine import Store
from store.connection.errors import NOT_MIGRATED, StoreUnavailable
from store.database import check_schema
from store.outbox.index_outbox import pending

LATE_AFTER = timedelta(seconds=60)


def orders_fault(database: OrdersDatabase) -> Finding | None:
    """What keeps the orders from being read."""
    if database.is_missing:
        return database_fault(NOT_MIGRATED)
    try:
        database.run(check_schema)
    except StoreUnavailable as error:
        return database_fault(error.cause)
    return None


def database_fault(cause: str) -> Finding:
    """The finding for a database that cannot be asked, by the store's own words."""
    message = f"the orders cannot be read (GEAR_DATABASE_URL): {cause}"
    if cause == NOT_MIGRATED:
        return Finding(Code.DATABASE_UNMIGRATED, None, "database", message, "gear-api migrate")
    remedy = "set right what the message names; where nothing is wrong there, try again"
    return Finding(Code.DATABASE_UNREACHABLE, None, "database", message, remedy)


def late_updates(database: OrdersDatabase, platform: int) -> Iterator[Finding]:
    """What should have been published to the index a minute ago."""
    now = datetime.now(UTC)

    async def read(store: Store) -> tuple[int, datetime | None]:
        async with store.reading() as connection:
            return await pending(connection, platform, now - LATE_AFTER)

    return check_late(platform, *database.run(read), now)


def check_late(platform: int, items: int, since: datetime | None, now: datetime) -> Iterator[Finding]:
    """Rows that no API process takes up."""
    if since is not None:
        minutes = (now - since).total_seconds() / 60
        message = (
            f"{items:,} items were ordered or let go up to {minutes:,.0f} minutes ago and the index was "
            "not told: no API process runs, it does not reach the engine, or its log names updates that fail"
        )
        yield Finding(Code.INDEX_SYNC_PENDING, platform, "index outbox", message, "gear-api serve")


def check_disagreement(platform: int, index: str, window: int, disagreement: Disagreement) -> Iterator[Finding]:
    """Sold items on offer, and free ones that nobody finds."""
    if disagreement.offered.items:
        message = f"{disagreement.offered.items:,} items that active orders hold are offered in {index}: "
        message += _named(disagreement.offered)
        repair = Repair(Action.PUBLISH_CLAIMS, index, window=window)
        yield Finding(Code.SOLD_BUT_OFFERED, platform, index, message, fix_command(platform), repair)
    if disagreement.hidden.items:
        message = f"{disagreement.hidden.items:,} items that no active order holds are hidden in {index}: "
        message += f"{_named(disagreement.hidden)}; after a restore their orders may be lost"
        yield Finding(Code.FREE_BUT_HIDDEN, platform, index, message, f"gear-api reconcile --platform {platform}")


def _named(tally: Tally) -> str:
    return ", ".join(str(item) for item in tally.first) + (", …" if tally.items > len(tally.first) else "")
