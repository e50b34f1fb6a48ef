"""Index sync: a bound item is out of every search, a released one is back, whatever crashes in between."""

import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from structlog.testing import capture_logs

from api.orders.index_sync import IndexSync
from api.settings import Settings
from mappings.connection import connect_async
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.outbox.index_outbox import IndexUpdate
from tests.support.orders.shop import KNIFE, NEGATIVE, Shop, eventually, opened, place_past_the_app
from tests.support.services.wire import TcpProxy
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres

NOW = datetime(2026, 8, 9, tzinfo=UTC)


async def until_all_is_published(shop: Shop) -> None:
    """Waits until the index outbox is empty."""

    async def published() -> bool:
        async with shop.store.reading() as connection:
            return await index_outbox.count_pending(connection) == 0

    await eventually(published, "rows are still in the outbox")


async def test_an_item_is_hidden_while_an_order_binds_it(shop: Shop) -> None:
    everything = await shop.offered()
    order = await shop.placed()
    await shop.until_hidden()
    assert await shop.offered() == everything - {KNIFE}
    assert (await shop.get(f"/v1/gear/{KNIFE}")).json()["available"] is False
    await shop.move(order["id"], "created", "processing", "delivered")
    await until_all_is_published(shop)
    assert await shop.offered() == everything - {KNIFE}
    await shop.move(order["id"], "delivered", "reverted")
    await shop.until_offered()
    assert await shop.offered() == everything


async def test_another_workers_row_is_published(settings: Settings) -> None:
    async with opened(settings) as shop:
        await place_past_the_app(settings)
        await shop.until_hidden()


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


async def test_an_order_just_before_the_end_is_published(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        await shop.placed()
    client = connect_async(sqlite_settings, timeout=30)
    try:
        found = await client.get(index=sqlite_settings.alias(730), id=str(KNIFE))
    finally:
        await client.close()
    assert found["_source"]["bound"] is True


async def test_an_item_that_left_the_catalogue_needs_no_update(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        await place_past_the_app(sqlite_settings, item=123)
        await until_all_is_published(shop)


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
                        found = await connection.exec_driver_sql("SELECT min(attempts) FROM index_outbox")
                        return int(found.scalar_one()) >= 3

                await eventually(tried_again, "index sync gave up")
                proxy.restore()
                await shop.until_hidden(KNIFE)
                await shop.until_hidden(NEGATIVE)
                # a try that timed out may arrive late, so the present state is published once more
                await until_all_is_published(shop)
                async with shop.store.reading() as connection:
                    found = await connection.exec_driver_sql("SELECT min(applied_version) FROM index_outbox")
                    assert int(found.scalar_one()) > 1
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

            await eventually(noticed, "index sync did not notice")
            await postgres.serve_again(database)
            await place_past_the_app(postgres_settings)
            await shop.until_hidden()

            async def goes_on() -> bool:
                return ("index sync", "background work goes on") in [(one.get("work"), one["event"]) for one in logs]

            await eventually(goes_on, "index sync did not say that it goes on")
        events = [entry["event"] for entry in logs if entry.get("work") == "index sync"]
        assert events == ["background work waits for an outage to end", "background work goes on"]


async def test_a_fault_does_not_end_the_work(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        file = sqlite_settings.database_url.partition(":///")[2]
        with capture_logs() as logs, sqlite3.connect(file, timeout=10, isolation_level=None) as database:
            await place_past_the_app(sqlite_settings)
            await shop.until_hidden()
            # a time that is none cannot be read: nobody writes it, so it stands for any fault of ours
            database.execute("UPDATE index_outbox SET version = version + 1, updated_at = 'never'")

            async def noticed() -> bool:
                return any(entry.get("work") == "index sync" for entry in logs)

            await eventually(noticed, "nothing was logged")
            database.execute("UPDATE index_outbox SET updated_at = 0")
            await until_all_is_published(shop)
        database.close()


async def test_an_update_that_took_longer_than_its_lease_is_published_again(sqlite_settings: Settings) -> None:
    await migrated(sqlite_settings.database_url)
    async with opened(sqlite_settings) as shop:
        await shop.placed()
        await until_all_is_published(shop)
        services = shop.app.app.state.services
        idle = IndexSync(services.store, services.engine.update_availability)
        async with shop.store.transaction() as connection:
            # as if this worker had been stopped for a minute between its lease and its answer
            await index_outbox.enqueue(connection, 730, [KNIFE], NOW)
            [work] = await index_outbox.lease(connection, datetime.now(UTC) - timedelta(minutes=1), 5.0, 10)
            version = work.version
        await idle.record([work], [True])
        async with shop.store.reading() as connection:
            found = await connection.exec_driver_sql("SELECT version FROM index_outbox")
            assert int(found.scalar_one()) > version
        await until_all_is_published(shop)
        await shop.until_hidden()


async def test_an_update_that_arrives_after_a_newer_one_is_refused(sqlite_settings: Settings) -> None:
    """As by a node that hung, after another node has taken the update and the next one."""
    async with opened(sqlite_settings) as shop:
        services = shop.app.app.state.services
        client = services.engine._client
        sent: list[bytes] = []

        async def recorded(*, body: bytes, **more: Any) -> bytes:
            sent.append(body)
            return cast("bytes", await bulk(body=body, **more))

        bulk, client.bulk = client.bulk, recorded
        for bound in (True, False, False):  # the last one changes nothing, and nothing that was sent before may
            assert await services.engine.update_availability([availability(bound=bound)]) == [True]
        for late in sent:
            assert b"version_conflict_engine_exception" in await bulk(body=late, refresh=True)
        assert KNIFE in await shop.offered()


def availability(*, bound: bool) -> IndexUpdate:
    """An update of the knife."""
    return IndexUpdate(platform=730, item=KNIFE, version=1, bound=bound, attempts=1, leased_until=NOW)


@pytest.mark.parametrize("fault", ["refuse", "hang"])
async def test_an_app_ends_in_the_middle_of_an_outage(sqlite_settings: Settings, fault: str) -> None:
    with TcpProxy.before(sqlite_settings.opensearch_url) as proxy:
        settings = sqlite_settings.model_copy(update={"opensearch_url": proxy.url})
        async with opened(settings):
            getattr(proxy, fault)()
            await place_past_the_app(settings)
    async with opened(sqlite_settings) as shop:
        await shop.until_hidden()
