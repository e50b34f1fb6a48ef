"""Nodes that hang: left out after a few requests, which another node answers, and taken back when they answer."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

import httpx
import pytest
from opensearchpy import AsyncOpenSearch, exceptions

from mappings.connection import SearchSettings, connect, connect_async
from mappings.platforms import read_platforms
from mappings.transport.http import CONNECT_SECONDS
from mappings.transport.nodes import FIRST_TRY_SHARE, MAX_SILENCES, FailoverTransport, Node
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.exposition import samples
from tests.support.api.waiting import until
from tests.support.app import RunningApp, running, settings_for
from tests.support.node.small_nodes import SmallNode, lost_node, small_node
from tests.support.servers import TcpProxy

TIMEOUT = 2.5
FIRST_TRY = TIMEOUT * FIRST_TRY_SHARE
A_SECOND = 20


@asynccontextmanager
async def client_of(*addresses: str) -> AsyncIterator[tuple[AsyncOpenSearch, list[int]]]:
    """A client of these nodes, and how many were left out after each change."""
    changes: list[int] = []
    settings = SearchSettings(_env_file=None, opensearch_url=",".join(addresses))
    client = connect_async(settings, timeout=TIMEOUT, on_change=lambda _, ejected: changes.append(ejected))
    try:
        yield client, changes
    finally:
        await client.close()


@pytest.fixture
async def nodes() -> AsyncIterator[tuple[SmallNode, SmallNode]]:
    """Two nodes that answer at once."""
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(small_node()) for _ in range(2)]
        yield first, second


async def searches(client: AsyncOpenSearch, count: int, read: str = "search") -> float:
    """Makes so many searches or other reads at once, each of which must succeed; the seconds that they took."""
    started = time.monotonic()
    await asyncio.gather(*(getattr(client, read)(index="x", body={"ids": ["1"]}) for _ in range(count)))
    return time.monotonic() - started


@pytest.mark.parametrize("read", ["search", "mget"])
async def test_what_waits_for_a_node_that_hangs_is_asked_of_another_and_it_is_left_out(
    nodes: tuple[SmallNode, SmallNode], read: str
) -> None:
    hung, _ = nodes
    async with client_of(*(node.url for node in nodes)) as (client, changes):
        await searches(client, 4, read)
        hung.hang()
        assert await searches(client, 2 * MAX_SILENCES, read) < TIMEOUT
        assert changes == [1]
        engine_requests = len(hung.requests)
        assert await searches(client, 20, read) < FIRST_TRY
        assert len([path for path in hung.requests[engine_requests:] if path != "/"]) == 0
        hung.restore()

        await until(lambda: changes == [1, 0])
        engine_requests = len(hung.requests)
        await searches(client, 4, read)
        assert len(hung.requests) == engine_requests + 2


async def test_a_probe_that_fails_unexpectedly_is_logged_and_made_again(
    nodes: tuple[SmallNode, SmallNode], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    responds, faults = Node.responds, [RuntimeError("unforeseen")]

    async def fail_once(node: Node) -> bool:
        while faults:
            raise faults.pop()
        return await responds(node)

    monkeypatch.setattr(Node, "responds", fail_once)
    hung, _ = nodes
    async with client_of(*(node.url for node in nodes)) as (client, changes):
        hung.hang()
        await searches(client, 2 * MAX_SILENCES)
        transport = client.transport
        assert isinstance(transport, FailoverTransport)
        await until(lambda: not (faults or transport._attempts))  # only a probe can take it back now
        assert changes == [1]
        hung.restore()
        await until(lambda: changes == [1, 0])
    assert [record.message for record in caplog.records if record.name == "gear.engine"] == [
        f"the probe of {hung.url} failed and is tried again; report it"
    ]


async def test_a_write_is_not_sent_to_a_second_node(nodes: tuple[SmallNode, SmallNode]) -> None:
    async with client_of(*(node.url for node in nodes)) as (client, changes):
        for node in nodes:
            node.hang()
        with pytest.raises(exceptions.ConnectionTimeout):
            await client.bulk(body=b"{}\n")
        assert sorted(len(node.requests) for node in nodes) == [0, 1]
        assert changes == []


async def test_a_node_that_is_slow_is_neither_left_out_nor_relieved(nodes: tuple[SmallNode, SmallNode]) -> None:
    slow, _ = nodes
    slow.delay = FIRST_TRY + 0.2
    async with client_of(*(node.url for node in nodes)) as (client, changes):
        searching = []
        for _ in range(20):  # it always answers something meanwhile
            searching.append(asyncio.create_task(client.search(index="x", body={})))
            await asyncio.sleep(0.2)
        await asyncio.gather(*searching)
        assert changes == []
        total = sum(len(node.requests) for node in nodes)
        assert total <= 20 + 2 * MAX_SILENCES, "only before its first answer it seemed to be silent"


async def test_a_node_that_drops_everything_costs_a_short_connect_limit(nodes: tuple[SmallNode, SmallNode]) -> None:
    with lost_node() as lost:
        async with client_of(lost, nodes[0].url) as (client, changes):
            assert await searches(client, 4) < CONNECT_SECONDS + 1
            assert changes == [1]
            assert await searches(client, 20) < CONNECT_SECONDS


async def test_the_indexers_client_leaves_out_a_node_that_did_not_answer(nodes: tuple[SmallNode, SmallNode]) -> None:
    hung, _ = nodes
    hung.hang()
    settings = SearchSettings(_env_file=None, opensearch_url=",".join(node.url for node in nodes))
    with closing(connect(settings, timeout=TIMEOUT, retries=0)) as client:

        def call() -> bool:
            try:
                client.bulk(body=b"{}\n")
            except exceptions.ConnectionTimeout:
                return False
            return True

        assert sum([not await asyncio.to_thread(call) for _ in range(10)]) == 1


async def test_where_all_nodes_hang_the_first_that_answers_is_used_again(nodes: tuple[SmallNode, SmallNode]) -> None:
    async with client_of(*(node.url for node in nodes)) as (client, changes):
        for node in nodes:
            node.hang()
        responses = await asyncio.gather(
            *(client.search(index="x", body={}) for _ in range(4 * MAX_SILENCES)), return_exceptions=True
        )
        assert {type(response) for response in responses} == {exceptions.ConnectionTimeout}
        assert max(changes) == 2
        nodes[0].restore()
        assert await searches(client, 4) < TIMEOUT


async def test_a_node_that_hangs_costs_searches_next_to_nothing(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    """With two addresses and 20 searches a second; through the app, with the default deadline."""
    with TcpProxy.before(opensearch_url) as hung, TcpProxy.before(opensearch_url) as well:
        settings = settings_for(f"{hung.url},{well.url}", index_prefix, tmp_path, search_timeout=TIMEOUT)
        put_index(settings, next(iter(read_platforms())), map(simple_item, range(1, 4)))
        async with running(settings) as app:
            await search_for(app, 1)
            hung.hang()
            before = await search_for(app, 5)
            after = await search_for(app, 5)
            assert [response.status_code for response in after] == [200] * len(after)
            failed = [response.status_code for response in before if response.status_code != 200]
            assert len(failed) <= len(before) / 10
            assert await ejected(app) == 1
            hung.restore()

            async def is_back() -> bool:
                return await ejected(app) == 0

            await until(is_back, 60)


async def search_for(app: RunningApp, seconds: int) -> list[httpx.Response]:
    """The answers to searches that are sent at their rate, whether others have been answered or not."""
    searching: list[asyncio.Task[httpx.Response]] = []
    for _ in range(seconds * A_SECOND):
        number = len(searching) + time.monotonic_ns() % 10**9
        searching.append(asyncio.create_task(app.search({"filters": {"price": {"max": number}}})))
        await asyncio.sleep(1 / A_SECOND)
    return await asyncio.gather(*searching)


async def ejected(app: RunningApp) -> float:
    """How many nodes the metrics tell to be left out."""
    text = (await app.client.get("/metrics")).text
    return samples(text)["gear_engine_nodes_ejected", frozenset()]
