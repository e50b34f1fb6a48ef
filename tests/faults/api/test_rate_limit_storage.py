"""The shared storage of rate limits counts for all; while it is away requests go on, and each process counts alone."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from limits import parse

from api.rate_limits.storage import STORAGE_SECONDS, WindowCounter
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import running, settings_for
from tests.support.faults.name_server import NameServer
from tests.support.services.redis_server import redis_server
from tests.support.services.wire import TcpProxy

LIMIT = parse("6/day")
TIMEOUT_SECONDS = 20.0
"""A busy machine takes its time, which is no fault."""


@pytest.fixture
def wire() -> Iterator[TcpProxy]:
    """A wire to a Redis."""
    with redis_server() as url, TcpProxy.before(url) as proxy:
        yield proxy


def counter_over(wire: TcpProxy, failures: list[int], **times: float) -> WindowCounter:
    url = wire.url.replace("http", "redis")
    return WindowCounter(url, lambda: failures.append(1), **{"retry_after": 0.2, **times})


async def test_several_processes_count_together(wire: TcpProxy) -> None:
    failures: list[int] = []
    workers = [counter_over(wire, failures, timeout=TIMEOUT_SECONDS) for _ in range(2)]
    try:
        quotas = [await workers[turn % 2].charge(LIMIT, "token:a", 2) for turn in range(4)]
        assert [quota.admitted for quota in quotas] == [True, True, True, False]
        assert [quota.remaining for quota in quotas] == [4, 2, 0, 0]
        assert not (await workers[0].charge(LIMIT, "token:a", 0)).admitted
        assert (await workers[0].charge(LIMIT, "token:b", 6)).admitted
        assert not failures
    finally:
        for worker in workers:
            await worker.close()


@pytest.mark.parametrize("fault", ["refuse", "hang"])
async def test_without_the_storage_a_process_counts_alone_until_it_is_back(wire: TcpProxy, fault: str) -> None:
    failures: list[int] = []
    unhurried, worker = counter_over(wire, failures, timeout=TIMEOUT_SECONDS), counter_over(wire, failures)
    try:
        assert (await unhurried.charge(LIMIT, "token:a", 3)).remaining == 3
        getattr(wire, fault)()
        started = time.perf_counter()
        alone = [(await worker.charge(LIMIT, "token:a", 2)).admitted for _ in range(4)]
        seconds = time.perf_counter() - started
        assert alone == [True, True, True, False]
        assert failures == [1], "only the first asks the storage"
        assert seconds < 10 * STORAGE_SECONDS
        wire.restore()

        async def counts_together() -> bool:  # a first call may meet the connection that was cut
            return (await unhurried.charge(LIMIT, "token:a", 0)).remaining == 3

        await until(counts_together)
        assert (await unhurried.charge(LIMIT, "token:a", 1)).remaining == 2
    finally:
        await unhurried.close()
        await worker.close()


async def test_a_name_server_that_does_not_respond_holds_one_thread(wire: TcpProxy, name_server: NameServer) -> None:
    failures: list[int] = []
    counter = counter_over(wire, failures, retry_after=0.01)
    wire.refuse()
    try:
        await counter.charge(LIMIT, "token:a", 1)
        name_server.fall_silent()
        for _ in range(10):
            await asyncio.sleep(0.02)
            await counter.charge(LIMIT, "token:b", 1)
        assert name_server.lookups == ["name-lookup"], "the event loop's threads are for others"
        assert len(failures) == 11
        name_server.respond()
        wire.restore()
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while len(failures) < 30:
                await asyncio.sleep(0.02)
                before = len(failures)
                await counter.charge(LIMIT, "token:a", 0)
                if len(failures) == before:
                    return
        pytest.fail("the storage was not asked again")
    finally:
        await counter.close()


async def test_requests_are_answered_and_limited_without_the_storage(
    opensearch_url: str, index_prefix: str, tmp_path: Path, wire: TcpProxy
) -> None:
    wire.refuse()
    limits = {"rate_limit": "5/day", "rate_limit_storage": wire.url.replace("http", "redis")}
    async with running(settings_for(opensearch_url, index_prefix, tmp_path, **limits)) as app:
        responses = [await app.client.get("/v1/orders/unknown") for _ in range(4)]
        assert [response.status_code for response in responses] == [404] * 4
        metrics = (await app.client.get("/metrics")).text
        assert "gear_rate_limit_storage_failures_total 0.0" not in metrics
        assert "gear_rate_limit_storage_failures_total" in metrics
        error_of(await app.client.get("/v1/orders/unknown"), "rate_limited")
