"""Retries over killed workers and outages: there is one order and one answer."""

import signal
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest

from api.settings import Settings
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import new_token
from tests.support.orders.calls import is_replay_of, send
from tests.support.orders.dying_server import serve_and_die
from tests.support.orders.processes import worker
from tests.support.orders.shop import FREE, KNIFE, Shop, opened
from tests.support.services.wire import TcpProxy
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres


@pytest.mark.parametrize("key", ["k", None])
async def test_a_worker_killed_between_commit_and_answer_is_answered_for_by_the_next(
    settings: Settings, tmp_path: Path, key: str | None
) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order", "search")
    async with worker(settings, tmp_path, token, program=serve_and_die) as dying:
        with pytest.raises(httpx.TransportError):
            await send(dying.client, key)
        assert await dying.process.wait() == -9
    async with worker(settings, tmp_path, token) as following:
        responses = [await send(following.client, key) for _ in range(2)]
        assert [response.headers["Idempotent-Replayed"] for response in responses] == ["true", "true"]
        assert responses[0].content == responses[1].content
        assert responses[0].json()["order"]["state"] == "created"
        listed = (await following.client.get("/v1/orders")).json()["orders"]
        assert listed == [responses[0].json()["order"]]

        async def hidden() -> bool:  # the dead one had told nobody
            page = (await following.client.post("/v1/gear/search", json={"limit": 100})).json()
            return KNIFE not in [item["id"] for item in page["gear"]]

        await until(hidden, otherwise="what the dead worker sold is still offered")


async def test_a_retry_needs_no_engine(sqlite_settings: Settings) -> None:
    with TcpProxy.before(sqlite_settings.opensearch_url) as proxy:
        settings = sqlite_settings.model_copy(update={"opensearch_url": proxy.url})
        async with opened(settings) as shop:
            keyed, plain = await send(shop.app.client), await send(shop.app.client, None, item=str(FREE))
            proxy.refuse()
            assert is_replay_of(await send(shop.app.client), keyed)
            assert is_replay_of(await send(shop.app.client, None, item=str(FREE)), plain)


async def test_keys_hold_over_real_restarts(settings: Settings, tmp_path: Path) -> None:
    await migrated(settings.database_url)
    token = await new_token(settings.database_url, "order")
    responses: list[httpx.Response] = []
    for ending in ("kill", "terminate", "kill"):
        async with AsyncExitStack() as stack:
            running = await stack.enter_async_context(worker(settings, tmp_path, token))
            responses.append(await send(running.client))
            if ending == "kill":
                running.process.send_signal(signal.SIGKILL)
                await running.process.wait()
    assert all(is_replay_of(response, responses[0]) for response in responses[1:])


async def test_a_call_that_met_an_outage_is_made_again_with_its_key(
    postgres_settings: Settings, postgres: Postgres, database: str
) -> None:
    async with opened(postgres_settings) as shop:
        await shop.offered()  # the token is known now
        await postgres.stop_serving(database)
        assert error_of(await send(shop.app.client))["code"] == "store_unavailable"
        await postgres.serve_again(database)
        first = await send(shop.app.client)
        assert is_replay_of(await send(shop.app.client), first)


async def test_a_call_that_met_a_locked_file_is_made_again_with_its_key(hasty_shop: Shop) -> None:
    file = hasty_shop.app.settings.database_url.partition(":///")[2]
    database = sqlite3.connect(file, isolation_level=None)
    try:
        database.execute("BEGIN IMMEDIATE")
        assert error_of(await send(hasty_shop.app.client))["code"] == "store_unavailable"
        database.execute("ROLLBACK")
    finally:
        database.close()
    first = await send(hasty_shop.app.client)
    assert is_replay_of(await send(hasty_shop.app.client), first)
