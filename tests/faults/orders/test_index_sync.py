"""Index sync over crashes and outages: a bound item is out of every search, a released one is back."""

import sqlite3
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from api.settings import Settings
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from tests.support.api.waiting import until
from tests.support.orders.shop import KNIFE, NEGATIVE, opened, place_past_the_app
from tests.support.services.wire import TcpProxy
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres

NOW = datetime(2026, 8, 9, tzinfo=UTC)


async def test_a_crash_after_the_commit_loses_nothing(settings: Settings) -> None:
    await migrated(settings.database_url)
    order = await place_past_the_app(settings)
    async with opened(settings) as shop:
        await shop.until_hidden()
    store = Store(settings.database_url)
    async with store.transaction() as connection:  # released while no app runs
        await orders.move(connection, order.id, ["created"], "failed", None, NOW)
    await store.close()
    async with opened(settings) as shop:
        await shop.until_offered()


async def test_the_work_of_a_worker_that_died_is_taken_over(sqlite_settings: Settings) -> None:
    await migrated(sqlite_settings.database_url)
    await place_past_the_app(sqlite_settings)
    store = Store(sqlite_settings.database_url)
    async with store.transaction() as connection:
        assert len(await index_outbox.lease(connection, datetime.now(UTC), 1.0, 10)) == 1
    await store.close()
    async with opened(sqlite_settings) as shop:
        await shop.until_hidden()


async def test_an_outage_of_the_engine_only_delays(sqlite_settings: Settings) -> None:
    with TcpProxy.before(sqlite_settings.opensearch_url) as proxy:
        settings = sqlite_settings.model_copy(update={"opensearch_url": proxy.url})
        async with opened(settings) as shop:
            proxy.refuse()
            with capture_logs() as logs:
                await place_past_the_app(settings)
                await place_past_the_app(settings, NEGATIVE)

                async def tried_again() -> bool:
                    async with shop.store.reading() as connection:
                        result = await connection.exec_driver_sql("SELECT min(attempts) FROM index_outbox")
                        return int(result.scalar_one()) >= 3

                await until(tried_again, otherwise="index sync gave up")
                proxy.restore()
                await shop.until_hidden(KNIFE)
                await shop.until_hidden(NEGATIVE)
                # a try that timed out may arrive late, so the present state is published once more
                await shop.until_published()
                async with shop.store.reading() as connection:
                    result = await connection.exec_driver_sql("SELECT min(applied_version) FROM index_outbox")
                    assert int(result.scalar_one()) > 1
            events = [entry["event"] for entry in logs if entry.get("work") == "index sync"]
            assert events == ["background work waits for an outage to end", "background work goes on"]


async def test_an_outage_of_the_store_only_delays(
    postgres_settings: Settings, postgres: Postgres, database: str
) -> None:
    async with opened(postgres_settings) as shop:
        with capture_logs() as logs:
            await postgres.stop_serving(database)

            async def noticed() -> bool:
                return any(entry.get("work") == "index sync" for entry in logs)

            await until(noticed, otherwise="index sync did not notice")
            await postgres.serve_again(database)
            await place_past_the_app(postgres_settings)
            await shop.until_hidden()

            async def goes_on() -> bool:
                return ("index sync", "background work goes on") in [
                    (entry.get("work"), entry["event"]) for entry in logs
                ]

            await until(goes_on, otherwise="index sync did not say that it goes on")
        events = [entry["event"] for entry in logs if entry.get("work") == "index sync"]
        assert events == ["background work waits for an outage to end", "background work goes on"]


async def test_a_fault_does_not_end_the_work(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        file = sqlite_settings.database_url.partition(":///")[2]
        with capture_logs() as logs, sqlite3.connect(file, timeout=10, isolation_level=None) as database:
            await place_past_the_app(sqlite_settings)
            await shop.until_hidden()
            database.execute("UPDATE index_outbox SET version = version + 1")
            # stands for any fault of ours
            refused = "BEFORE UPDATE OF leased_until ON index_outbox BEGIN SELECT RAISE(ABORT, 'a fault'); END"
            database.execute(f"CREATE TRIGGER fault {refused}")

            async def noticed() -> bool:
                return any(entry.get("work") == "index sync" for entry in logs)

            await until(noticed, otherwise="nothing was logged")
            database.execute("DROP TRIGGER fault")
            await shop.until_published()
        database.close()


@pytest.mark.parametrize("fault", ["refuse", "hang"])
async def test_an_app_ends_in_the_middle_of_an_outage(sqlite_settings: Settings, fault: str) -> None:
    with TcpProxy.before(sqlite_settings.opensearch_url) as proxy:
        settings = sqlite_settings.model_copy(update={"opensearch_url": proxy.url})
        async with opened(settings):
            getattr(proxy, fault)()
            await place_past_the_app(settings)
    async with opened(sqlite_settings) as shop:
        await shop.until_hidden()
