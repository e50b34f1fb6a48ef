"""Retention: keys and personal data are erased in time, an outage only delays that, and nothing else is touched."""

from datetime import UTC, datetime, timedelta

from structlog.testing import capture_logs

from api.background.failing_rows import FailingRows
from api.background.workers import PeriodicWorker, running
from api.retention import BATCH, INTERVAL_SECONDS, KEY_RETENTION, REFUSAL_RETENTION, apply_retention
from api.settings import Settings
from tests.support.api.waiting import until
from tests.support.orders.calls import is_replay_of, send
from tests.support.orders.shop import Shop, opened
from tests.support.store.postgres import Postgres


async def test_a_key_lasts_a_day_at_least_and_not_for_ever(shop: Shop) -> None:
    first = await send(shop.app.client)
    now = datetime.now(UTC)
    for at in (now - timedelta(days=400), now, now + timedelta(hours=24), now + KEY_RETENTION - timedelta(hours=1)):
        # clocks that were put back or forward by a day among them
        assert await apply_retention(shop.store, at, None, FailingRows("test")) == INTERVAL_SECONDS
        assert is_replay_of(await send(shop.app.client), first)
    await apply_retention(shop.store, now + KEY_RETENTION + timedelta(seconds=1), None, FailingRows("test"))
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
    assert await apply_retention(shop.store, datetime.now(UTC), None, FailingRows("test")) == 0.0
    assert await apply_retention(shop.store, datetime.now(UTC), None, FailingRows("test")) == INTERVAL_SECONDS


async def test_an_app_erases_old_keys_when_it_starts(settings: Settings) -> None:
    async with opened(settings) as shop:
        assert (await send(shop.app.client)).status_code == 201
        async with shop.store.transaction() as connection:
            await connection.exec_driver_sql("UPDATE idempotency_keys SET created_at = 1")
    async with opened(settings) as shop:

        async def erased() -> bool:
            async with shop.store.reading() as connection:
                result = await connection.exec_driver_sql("SELECT count(*) FROM idempotency_keys")
                return int(result.scalar_one()) == 0

        await until(erased, otherwise="the key is still there")


async def test_an_outage_is_logged_once_and_waited_out(
    postgres_settings: Settings, postgres: Postgres, database: str
) -> None:
    async with opened(postgres_settings) as shop:
        store = shop.store

        async def work() -> float:
            await apply_retention(store, datetime.now(UTC), None, FailingRows("test"))
            return 0.05

        with capture_logs() as logs:
            async with running(PeriodicWorker("test", work, retry_seconds=0.05)):
                await postgres.stop_serving(database)

                async def logged(event: str) -> bool:  # by this worker: the service's own notice the outage as well
                    return any(entry["event"] == event and entry.get("work") == "test" for entry in logs)

                await until(
                    lambda: logged("background work waits for an outage to end"), otherwise="nothing was logged"
                )
                await postgres.serve_again(database)
                await until(lambda: logged("background work goes on"), otherwise="it does not go on")
        events = [entry["event"] for entry in logs if entry.get("work") == "test"]
        assert events == ["background work waits for an outage to end", "background work goes on"]


async def test_keys_of_refused_orders_do_not_pile_up(shop: Shop) -> None:
    async def keys() -> list[str]:
        async with shop.store.reading() as connection:
            return sorted((await connection.exec_driver_sql("SELECT key FROM idempotency_keys")).scalars())

    assert (await send(shop.app.client, "ordered")).status_code == 201
    for key in ("refused-1", "refused-2"):
        assert (await send(shop.app.client, key)).status_code == 409
    now = datetime.now(UTC)
    await apply_retention(shop.store, now + REFUSAL_RETENTION - timedelta(minutes=1), None, FailingRows("test"))
    assert await keys() == ["ordered", "refused-1", "refused-2"], "a request that began before may still be under way"
    await apply_retention(shop.store, now + REFUSAL_RETENTION + timedelta(minutes=1), None, FailingRows("test"))
    assert await keys() == ["ordered"]
    async with shop.store.transaction() as connection:
        await connection.exec_driver_sql(
            "INSERT INTO idempotency_keys (token_id, key, body_digest, created_at, refusals) "
            "WITH RECURSIVE keys (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM keys "
            f"WHERE n <= {BATCH}) SELECT tokens.id, 'k' || n, '', 0, 1 FROM keys, tokens"
        )
    assert await apply_retention(shop.store, now, None, FailingRows("test")) == 0.0
    assert await apply_retention(shop.store, now, None, FailingRows("test")) == INTERVAL_SECONDS
    assert await keys() == ["ordered"]
