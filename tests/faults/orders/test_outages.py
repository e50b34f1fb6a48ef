"""Outages: an order is placed or refused with a 503 soon; it is never left open which."""

import sqlite3
from time import monotonic

import pytest

from api.settings import Settings
from tests.support.api.envelope import error_of
from tests.support.orders.shop import Shop, opened
from tests.support.services.wire import TcpProxy
from tests.support.store.postgres import Postgres


@pytest.mark.parametrize("fault", ["refuse", "hang"])
async def test_without_the_engine_an_order_is_refused_soon(sqlite_settings: Settings, fault: str) -> None:
    with TcpProxy.before(sqlite_settings.opensearch_url) as proxy:
        settings = sqlite_settings.model_copy(update={"opensearch_url": proxy.url, "search_timeout": 2.5})
        async with opened(settings) as shop:
            getattr(proxy, fault)()
            began = monotonic()
            response = await shop.order()
            took = monotonic() - began
            assert error_of(response)["code"] == "search_unavailable"
            assert took < 15  # 2.5 seconds where the machine has nothing else to do; the fault lasts until it is mended
            proxy.restore()
            assert (await shop.order()).status_code == 201


async def test_without_an_index_an_order_is_refused(sqlite_settings: Settings) -> None:
    empty = sqlite_settings.model_copy(update={"index_prefix": sqlite_settings.index_prefix + "-empty"})
    async with opened(empty) as shop:
        assert error_of(await shop.order())["code"] == "search_unavailable"


async def test_without_postgresql_an_order_is_refused(
    postgres_settings: Settings, postgres: Postgres, database: str
) -> None:
    async with opened(postgres_settings) as shop:
        await shop.offered()  # the token is known now
        await postgres.stop_serving(database)
        assert error_of(await shop.order())["code"] == "store_unavailable"
        assert error_of(await shop.get("/orders/" + "K" * 32))["code"] == "store_unavailable"
        await postgres.serve_again(database)
        assert (await shop.order()).status_code == 201


async def test_while_sqlite_is_locked_an_order_is_refused(hasty_shop: Shop) -> None:
    file = hasty_shop.app.settings.database_url.partition(":///")[2]
    database = sqlite3.connect(file, isolation_level=None)
    try:
        database.execute("BEGIN IMMEDIATE")
        assert error_of(await hasty_shop.order())["code"] == "store_unavailable"
        database.execute("ROLLBACK")
        assert (await hasty_shop.order()).status_code == 201
    finally:
        database.close()
