"""Duplicate requests: the same call again while the first one still waits for the engine, on either worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest
from opensearchpy import AsyncOpenSearch

from api.settings import Settings
from mappings.connection import connect_async
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.orders.calls import count, is_replay_of, send
from tests.support.orders.shop import KNIFE, Shop, opened
from tests.support.services.wire import TcpProxy


@asynccontextmanager
async def two_workers(settings: Settings, wire: TcpProxy) -> AsyncIterator[tuple[Shop, Shop]]:
    """One worker reaches the engine over the wire, the other one directly."""
    async with (
        opened(settings.model_copy(update={"opensearch_url": wire.url})) as far,
        opened(settings) as near,
    ):
        (await far.app.client.get("/health/ready")).raise_for_status()  # the connection of orders is there
        yield far, near


@asynccontextmanager
async def without(settings: Settings, item: int) -> AsyncIterator[AsyncOpenSearch]:
    """The item is gone from the index while the block lasts."""
    client = connect_async(settings, timeout=30)
    try:
        source = orjson.loads(await client.get(index=settings.alias(730), id=str(item)))["_source"]
        await client.delete(index=settings.alias(730), id=str(item))
        yield client
        await client.index(index=settings.alias(730), id=str(item), body=source)
    finally:
        await client.close()


async def until_it_waits_for_the_engine(wire: TcpProxy) -> None:
    """Waits until a request to the engine has reached the wire that hangs."""

    await until(lambda: wire.bytes_held > 0, otherwise="nothing was asked of the engine")


@pytest.mark.parametrize("key", ["k", None])
async def test_fifty_duplicates_at_a_slow_engine_get_one_order(settings: Settings, key: str | None) -> None:
    with TcpProxy.before(settings.opensearch_url) as wire:
        async with two_workers(settings, wire) as (far, near):
            token = far.app.token
            wire.hang()
            calls = [asyncio.create_task(send(far.app.client, key, token)) for _ in range(25)]
            await until_it_waits_for_the_engine(wire)
            calls += [asyncio.create_task(send(near.app.client, key, token)) for _ in range(25)]
            await asyncio.wait(calls[25:])  # the first ones still ask
            assert not any(call.done() for call in calls[:25])
            wire.restore()
            responses = await asyncio.gather(*calls)
            assert [response.status_code for response in responses] == [201] * 50
            assert len({response.content for response in responses}) == 1
            assert await count(far) == 1


async def test_a_refused_call_has_no_duplicate_that_comes_through_later(settings: Settings) -> None:
    """The client that is told `no` is told the truth, though its first call still waits for the engine."""
    with TcpProxy.before(settings.opensearch_url) as wire:
        async with two_workers(settings, wire) as (far, near):
            token = far.app.token
            wire.hang()
            first = asyncio.create_task(send(far.app.client, "k", token, item=str(KNIFE)))
            await until_it_waits_for_the_engine(wire)
            async with without(settings, KNIFE):
                assert error_of(await send(near.app.client, "k", token, item=str(KNIFE)))["code"] == "item_not_found"
            wire.restore()
            refused = error_of(await first)
            assert (refused["code"], "call again" in refused["message"]) == ("item_unavailable", True)
            assert await count(far) == 0
            again = await send(near.app.client, "k", token, item=str(KNIFE))
            assert again.status_code == 201
            assert is_replay_of(await send(far.app.client, "k", token, item=str(KNIFE)), again)


async def test_a_refusal_that_says_later_ends_nothing(settings: Settings) -> None:
    with TcpProxy.before(settings.opensearch_url) as wire:
        hasty = settings.model_copy(update={"opensearch_url": "http://127.0.0.1:9", "search_timeout": 2.5})
        async with two_workers(settings, wire) as (far, _), opened(hasty) as cut_off:
            wire.hang()
            first = asyncio.create_task(send(far.app.client, "k", far.app.token))
            await until_it_waits_for_the_engine(wire)
            refused = await send(cut_off.app.client, "k", far.app.token)
            assert error_of(refused)["code"] == "search_unavailable"
            wire.restore()
            assert (await first).status_code == 201
            assert is_replay_of(await send(cut_off.app.client, "k", far.app.token), await first)
