"""Index sync: a bound item is out of every search, a released one is back."""

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import orjson

from api.orders.index_sync import IndexSync
from api.orders.services import OrderServices
from api.search.service import SearchServices
from api.settings import Settings
from mappings.connection import connect_async
from store.outbox import index_outbox
from store.outbox.index_outbox import IndexUpdate
from tests.support.orders.shop import KNIFE, Shop, opened, place_past_the_app
from tests.support.store.migrated import migrated

NOW = datetime(2026, 8, 9, tzinfo=UTC)


async def test_an_item_is_hidden_while_an_order_binds_it(shop: Shop) -> None:
    everything = await shop.offered()
    order = await shop.placed()
    await shop.until_hidden()
    assert await shop.offered() == everything - {KNIFE}
    assert (await shop.get(f"/v1/gear/{KNIFE}")).json()["available"] is False
    await shop.move(order["id"], "created", "processing", "delivered")
    await shop.until_published()
    assert await shop.offered() == everything - {KNIFE}
    await shop.move(order["id"], "delivered", "reverted")
    await shop.until_offered()
    assert await shop.offered() == everything


async def test_another_workers_row_is_published(settings: Settings) -> None:
    async with opened(settings) as shop:
        await place_past_the_app(settings)
        await shop.until_hidden()


async def test_an_order_just_before_the_end_is_published(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        await shop.placed()
    client = connect_async(sqlite_settings, timeout=30)
    try:
        document = orjson.loads(await client.get(index=sqlite_settings.alias(730), id=str(KNIFE)))
    finally:
        await client.close()
    assert document["_source"]["bound"] is True


async def test_an_item_that_left_the_catalogue_needs_no_update(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        await place_past_the_app(sqlite_settings, item=123)
        await shop.until_published()


async def test_an_update_that_took_longer_than_its_lease_is_published_again(sqlite_settings: Settings) -> None:
    await migrated(sqlite_settings.database_url)
    async with opened(sqlite_settings) as shop:
        await shop.placed()
        await shop.until_published()
        services = shop.app.app.state.services[OrderServices]
        idle = IndexSync(services.store, services.engine.update_availability)
        async with shop.store.transaction() as connection:
            # as if this worker had been stopped for a minute between its lease and its answer
            await index_outbox.enqueue(connection, 730, [KNIFE], NOW)
            [work] = await index_outbox.lease(connection, datetime.now(UTC) - timedelta(minutes=1), 5.0, 10)
            version = work.version
        await idle.record([work], [work], [])
        async with shop.store.reading() as connection:
            result = await connection.exec_driver_sql("SELECT version FROM index_outbox")
            assert int(result.scalar_one()) > version
        await shop.until_published()
        await shop.until_hidden()


async def test_an_update_that_arrives_after_a_newer_one_is_refused(sqlite_settings: Settings) -> None:
    """As by a node that hung, after another node has taken the update and the next one."""
    async with opened(sqlite_settings) as shop:
        engine = shop.app.app.state.services[SearchServices].engine
        client = engine._client
        sent: list[bytes] = []

        async def recorded(*, body: bytes, **more: Any) -> bytes:
            sent.append(body)
            return cast("bytes", await bulk(body=body, **more))

        bulk, client.bulk = client.bulk, recorded
        for bound in (True, False, False):  # the last one changes nothing, and nothing that was sent before may
            assert await engine.update_availability([availability(bound=bound)]) == [True]
        for late in sent:
            assert b"version_conflict_engine_exception" in await bulk(body=late)
        await shop.until_offered()


def availability(*, bound: bool) -> IndexUpdate:
    """An update of the knife."""
    return IndexUpdate(platform=730, item=KNIFE, version=1, bound=bound, attempts=1, leased_until=NOW)
