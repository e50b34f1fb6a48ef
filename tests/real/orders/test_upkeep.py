"""Upkeep: what was kept long enough goes by itself, an outage only delays that, and nothing else is touched."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from api.orders import worker
from api.orders.retention import BATCH, EVERY_SECONDS, KEYS_ARE_KEPT, keep_up
from api.orders.worker import working
from api.settings import Settings
from store.connection.errors import StoreUnavailable
from tests.support.orders.calls import is_replay_of, send
from tests.support.orders.shop import Shop, eventually, opened
from tests.support.store.postgres import Postgres


async def test_a_key_is_kept_for_a_day_at_least_and_not_for_ever(shop: Shop) -> None:
    first = await send(shop.app.client)
    now = datetime.now(UTC)
    for moment in (now - timedelta(days=400), now, now + timedelta(hours=24), now + KEYS_ARE_KEPT - timedelta(hours=1)):
        # clocks that were put back or forward by a day among them
        assert await keep_up(shop.store, moment, None) == EVERY_SECONDS
        assert is_replay_of(await send(shop.app.client), first)
    await keep_up(shop.store, now + KEYS_ARE_KEPT + timedelta(seconds=1), None)
    # the key is forgotten, the order is not: its item cannot be bought a second time by mistake
    assert (await send(shop.app.client)).json()["error"]["code"] == "item_unavailable"
    again = await send(shop.app.client, None)
    assert again.json() == first.json()


async def test_a_full_batch_is_followed_by_the_next_at_once(shop: Shop) -> None:
    async with shop.store.transaction() as connection:
        await connection.exec_driver_sql(
            "INSERT INTO idempotency_keys (token_id, key, body_digest, created_at) "  # a number of ours
            "WITH RECURSIVE keys (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM keys "
            f"WHERE n <= {BATCH}) SELECT tokens.id, 'k' || n, 'digest', 0 FROM keys, tokens"
        )
    assert await keep_up(shop.store, datetime.now(UTC), None) == 0.0
    assert await keep_up(shop.store, datetime.now(UTC), None) == EVERY_SECONDS


async def test_an_app_erases_what_is_old_when_it_starts(settings: Settings) -> None:
    async with opened(settings) as shop:
        assert (await send(shop.app.client)).status_code == 201
        async with shop.store.transaction() as connection:
            await connection.exec_driver_sql("UPDATE idempotency_keys SET created_at = 1")
    async with opened(settings) as shop:

        async def erased() -> bool:
            async with shop.store.reading() as connection:
                found = await connection.exec_driver_sql("SELECT count(*) FROM idempotency_keys")
                return int(found.scalar_one()) == 0

        await eventually(erased, "the key is still there")


async def test_an_outage_is_told_once_and_waited_out(
    postgres_settings: Settings, postgres: Postgres, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "AFTER_A_FAULT_SECONDS", 0.05)
    async with opened(postgres_settings) as shop:
        store = shop.store

        async def work() -> float:
            await keep_up(store, datetime.now(UTC), None)
            return 0.05

        with capture_logs() as logs:
            async with working("test", work):
                await postgres.stop_serving(database)

                async def said(event: str) -> bool:  # by this work: the service's own notice the outage as well
                    return any(entry["event"] == event and entry.get("work") == "test" for entry in logs)

                await eventually(lambda: said("background work waits for the store"), "nobody noticed")
                await postgres.serve_again(database)
                await eventually(lambda: said("background work goes on"), "it does not go on")
        mine = [entry["event"] for entry in logs if entry.get("work") == "test"]
        assert mine == ["background work waits for the store", "background work goes on"]


async def test_a_fault_of_ours_is_told_and_does_not_end_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "AFTER_A_FAULT_SECONDS", 0.01)
    rounds_of_work = 0
    done = asyncio.Event()

    async def work() -> float:
        nonlocal rounds_of_work
        rounds_of_work += 1
        if rounds_of_work == 1:
            raise ZeroDivisionError
        if rounds_of_work == 2:
            raise StoreUnavailable("gone")
        done.set()
        return 3600.0

    with capture_logs() as logs:
        async with working("test", work) as running:
            await asyncio.wait_for(done.wait(), 30)
            running.wake()
    assert [entry["log_level"] for entry in logs] == ["error", "warning", "info"]
