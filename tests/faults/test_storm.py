"""Searches, orders, changes and loads while neighbours hang, die and attack and hosts restart.

Nothing acknowledged is lost, nothing is sold twice, and every refusal says when to come back. Each fault comes once
here; GEAR_TEST_STORM_SECONDS and GEAR_TEST_STORM_SEED give longer and other runs.
"""

import asyncio
import contextlib
import json
import logging
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mappings.platforms import read_platforms
from store.auth import tokens
from store.connection.engine import Store
from store.states import RELEASED
from tests.support.api.catalogue import put_index, simple_item
from tests.support.app import settings_for
from tests.support.faults.hosts import Hosts, running_hosts
from tests.support.faults.order_traffic import Traffic, stored_histories
from tests.support.services.receiver import Receiver
from tests.support.services.wire import TcpProxy
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres

SECONDS = float(os.environ.get("GEAR_TEST_STORM_SECONDS", "0"))
SEED = os.environ.get("GEAR_TEST_STORM_SEED", "1")
BUYERS: Final = 3
SEARCHERS: Final = 3
CONTESTED: Final = list(range(1, 9))
CHANGING: Final = list(range(90_001, 90_021))
"""Items that nobody orders; their prices change all the time."""
FLOOD_CLIENTS: Final = 100
FAULT_SECONDS: Final = 4.0
SETTLE_SECONDS: Final = 90.0
REFUSALS: Final = (429, 503)
DATABASE: Final = "storm"
INDEXER: Final = ("-c", "from indexer.cli.main import main; main()")


@dataclass
class Responses:
    """What clients were answered, by what they sent; `odd` has what no client can act on."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)

    def note(self, kind: str, response: httpx.Response) -> None:
        """Counts the answer; a refusal must say when to come back."""
        self.statuses[kind, response.status_code] += 1
        if response.status_code in REFUSALS and not response.headers.get("Retry-After", "").isdigit():
            self.odd.append(f"{kind}: {response.status_code} without Retry-After: {response.text[:200]}")
        elif response.status_code not in (200, 201, 409, *REFUSALS):
            self.odd.append(f"{kind}: {response.status_code} {response.text[:200]}")

    def note_none(self, kind: str, error: httpx.TransportError) -> None:
        """Counts a call without an answer; one that waits in vain for it is odd."""
        self.statuses[kind, 0] += 1
        if isinstance(error, httpx.ReadTimeout):
            self.odd.append(f"{kind}: no answer in time")


@dataclass
class Storm:
    """Everything that the run is made of."""

    hosts: Hosts
    responses: Responses
    traffic: Traffic
    hanging: TcpProxy
    postgres: Postgres
    variables: dict[str, str]
    folder: Path
    chance: Random
    prices: dict[int, float] = field(default_factory=dict)
    loads: int = 0
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def search(self, kind: str, client: httpx.AsyncClient, body: dict[str, Any]) -> int:
        """The status of one search; 0 where there is no answer."""
        try:
            response = await client.post(f"{self.hosts.address()}/v1/gear/search", json=body)
        except httpx.TransportError as error:
            self.responses.note_none(kind, error)
            return 0
        self.responses.note(kind, response)
        return response.status_code

    def client(self) -> httpx.AsyncClient:
        """A client with the shop's token."""
        headers = {"Authorization": f"Bearer {self.traffic.token}"}
        transport = httpx.AsyncHTTPTransport(verify=False, limits=httpx.Limits(max_connections=None))  # plain HTTP
        return httpx.AsyncClient(headers=headers, timeout=20, transport=transport)

    async def indexer(self, *arguments: str) -> int:
        """The exit code of the indexer's command, in a process of its own."""
        with (self.folder / "indexer.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *INDEXER,
                *arguments,
                env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **self.variables},
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
            return await process.wait()


@pytest.fixture
async def storm(postgres: Postgres, opensearch_url: str, index_prefix: str, tmp_path: Path) -> AsyncIterator[Storm]:
    """A shop of two hosts on PostgreSQL, and two addresses of the engine, one of which can hang."""
    database_url = await postgres.new_database(DATABASE)
    await migrated(database_url)
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=database_url)
    (platform,) = read_platforms()
    put_index(settings, platform, _catalogue({}))
    store = Store(database_url)
    try:
        async with store.transaction() as connection:
            scopes = ["search", "order", "fulfil", "metrics"]
            created = await tokens.create(connection, "shop", scopes, False, None, datetime.now(UTC))
    finally:
        await store.close()
    with TcpProxy.before(opensearch_url) as hanging, Receiver() as receiver:
        variables = {
            "GEAR_OPENSEARCH_URL": f"{opensearch_url},{hanging.url}",
            "GEAR_INDEX_PREFIX": index_prefix,
            "GEAR_DATABASE_URL": database_url,
            "GEAR_PUBLIC_URL": "http://gear.test",
            "GEAR_RATE_LIMIT": "",
            "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
            "GEAR_DRAIN_SECONDS": "2",
        }
        async with running_hosts(variables, tmp_path, SEED) as hosts:
            responses = Responses()
            traffic = Traffic(hosts.address, created.plaintext, (receiver.url,), SEED, responses.note)
            chance = Random(f"{SEED} faults")
            yield Storm(hosts, responses, traffic, hanging, postgres, variables, tmp_path, chance)


def _own(name: int) -> list[int]:
    return list(range(1000 * (name + 1), 1000 * (name + 1) + 300))


def _catalogue(prices: dict[int, float]) -> list[dict[str, Any]]:
    """All items, those whose price changed at the price that they have now."""
    numbers = [*CONTESTED, *CHANGING, *(number for name in range(BUYERS) for number in _own(name))]
    return [simple_item(number, prices.get(number, 1.0)) for number in numbers]


async def hung_node(storm: Storm) -> None:
    """One of the engine's two addresses accepts and does not answer; searches go on by the other one."""
    storm.hanging.hang()
    try:
        await asyncio.sleep(FAULT_SECONDS)
        async with storm.client() as client:
            before = storm.responses.statuses["after the node hung", 503]
            for number in range(20):
                await storm.search(
                    "after the node hung", client, {"limit": 1, "filters": {"price": {"min": number / 100}}}
                )
            assert storm.responses.statuses["after the node hung", 503] - before <= 1
    finally:
        storm.hanging.restore()


async def dead_store(storm: Storm) -> None:
    """PostgreSQL is away: searches of a known token and `/metrics` go on, orders are refused."""

    async def read_metrics(client: httpx.AsyncClient) -> None:
        for host in storm.hosts.hosts:
            if host.is_ready:
                response = await client.get(f"{host.address}/metrics")
                storm.responses.note("metrics without the store", response)
                assert response.status_code == 200, response.text

    async with storm.client() as client:
        await read_metrics(client)  # so that a host that has just started knows the token
    await storm.postgres.stop_serving(DATABASE)
    try:
        end = monotonic() + FAULT_SECONDS
        async with storm.client() as client:
            while monotonic() < end:
                await read_metrics(client)
                await storm.search("search without the store", client, {"limit": 1})
                await asyncio.sleep(0.1)
    finally:
        await storm.postgres.serve_again(DATABASE)


async def flood(storm: Storm) -> None:
    """A hundred clients search without a pause, and one sends a body that never ends."""
    end = monotonic() + FAULT_SECONDS

    async def pour(client: httpx.AsyncClient, number: int) -> None:
        while monotonic() < end:
            body = {"limit": 10, "filters": {"price": {"max": round(1 + number + monotonic() % 1, 2)}}}
            await storm.search("flood", client, body)

    async def slow_upload() -> None:
        parts = urlsplit(storm.hosts.address())
        _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        head = (
            f"POST /v1/gear/search HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {storm.traffic.token}\r\nContent-Length: 50000\r\n\r\n"
        )
        writer.write(head.encode())
        with contextlib.suppress(OSError):
            while monotonic() < end:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.2)
        writer.close()

    async with storm.client() as client, asyncio.TaskGroup() as clients:
        clients.create_task(slow_upload())
        for number in range(FLOOD_CLIENTS):
            clients.create_task(pour(client, number))


async def rolling_restart(storm: Storm) -> None:
    """Both hosts are stopped and started, one after the other."""
    await storm.hosts.restart_each()


async def load(storm: Storm) -> None:
    """The whole catalogue is loaded anew, with the prices of the moment."""
    file = storm.folder / "catalogue.ndjson"
    async with storm.writing:
        file.write_text("".join(json.dumps(item) + "\n" for item in _catalogue(storm.prices)), encoding="utf-8")
        # a load whose engine or store goes away ends with a failure and leaves the old index: the operator repeats it
        for _ in range(5):
            if await storm.indexer("load", str(file), "--platform", "730", "--quiet") == 0:
                storm.loads += 1
                return
    pytest.fail(f"no load succeeded, see {storm.folder / 'indexer.log'}")


FAULTS: Final[tuple[Callable[[Storm], Awaitable[None]], ...]] = (hung_node, dead_store, flood, rolling_restart, load)


async def _search_on(storm: Storm, stop: asyncio.Event) -> None:
    async with storm.client() as client:
        while not stop.is_set():
            await storm.search("search", client, {"query": "ak redline", "limit": storm.chance.randint(1, 20)})
            await asyncio.sleep(0.05)


async def _change_prices(storm: Storm, stop: asyncio.Event) -> None:
    """Upserts without a pause; what was acknowledged is remembered."""
    number = 0
    while not stop.is_set():
        number += 1
        async with storm.writing:
            changed = {item: round(1 + number / 100, 2) for item in storm.chance.sample(CHANGING, 5)}
            file = storm.folder / "changes.ndjson"
            lines = [json.dumps(simple_item(item, price)) + "\n" for item, price in changed.items()]
            file.write_text("".join(lines), encoding="utf-8")
            if await storm.indexer("upsert", str(file), "--platform", "730") == 0:
                storm.prices |= changed
            else:  # some of it may have been written: what it is becomes known by the next acknowledged change
                for item in changed:
                    storm.prices.pop(item, None)
        await asyncio.sleep(0.3)


@pytest.mark.timeout(400 + 2 * SECONDS)
async def test_a_storm_loses_nothing_sells_nothing_twice_and_refuses_honestly(storm: Storm) -> None:
    stop = asyncio.Event()
    end = monotonic() + SECONDS
    counts: Counter[str] = Counter()
    async with asyncio.TaskGroup() as group:
        for name in range(BUYERS):
            group.create_task(storm.traffic.buy(name, (CONTESTED, _own(name)), stop))
        for _ in range(SEARCHERS):
            group.create_task(_search_on(storm, stop))
        group.create_task(_change_prices(storm, stop))
        faults = storm.chance.sample(FAULTS, len(FAULTS))
        while faults or monotonic() < end:
            fault = faults.pop() if faults else storm.chance.choice(FAULTS)
            await fault(storm)
            counts[fault.__name__] += 1
        stop.set()
    summary = {f"{kind} {status}": count for (kind, status), count in sorted(storm.responses.statuses.items())}
    logging.getLogger(__name__).warning(
        "%s faults, %s loads, %s orders: %s", dict(counts), storm.loads, len(storm.traffic.orders), summary
    )
    assert storm.responses.odd == []
    assert storm.traffic.sold_twice() == []
    assert await stored_histories(storm.variables["GEAR_DATABASE_URL"]) == {
        order: placed.history for order, placed in storm.traffic.orders.items()
    }
    assert len(storm.traffic.orders) > BUYERS
    await _settle(storm)


async def _settle(storm: Storm) -> None:
    """Waits until searches offer exactly what no order binds, at the prices of the last changes, and metrics agree."""
    bound = {order.item for order in storm.traffic.orders.values() if order.history[-1] not in RELEASED}
    expected = {item["id"]: item["price"] for item in _catalogue(storm.prices) if item["id"] not in bound}
    unknown = {number for number in CHANGING if number not in storm.prices}

    async def difference() -> str:
        """What is not as it should be, or nothing."""
        offered: dict[int, float] = {}
        async with storm.client() as client:
            for page in range(1, len(expected) // 100 + 2):
                response = await client.post(
                    f"{storm.hosts.address()}/v1/gear/search", json={"limit": 100, "page": page, "sort": "price_asc"}
                )
                if response.status_code != 200:
                    return response.text
                offered |= {item["id"]: item["price"] for item in response.json()["gear"]}
            if offered.keys() != expected.keys():
                return f"offered or not, and not as ordered: {offered.keys() ^ expected.keys()}"
            prices = {item: offered[item] for item in expected.keys() - unknown if offered[item] != expected[item]}
            return f"prices that no change gave: {prices}" if prices else await _what_waits(storm, client)

    end = monotonic() + SETTLE_SECONDS
    while remaining := await difference():
        assert monotonic() < end, remaining
        await asyncio.sleep(0.1)


async def _what_waits(storm: Storm, client: httpx.AsyncClient) -> str:
    """What the metrics of either host say is still to be done: updates of the index, callbacks that are overdue."""
    for host in storm.hosts.hosts:
        response = await client.get(f"{host.address}/metrics")
        if response.status_code != 200:
            return response.text
        for family in text_string_to_metric_families(response.text):
            for sample in family.samples:
                if sample.name in ("gear_index_sync_pending", "gear_callbacks_overdue") and sample.value:
                    return f"{host.address}: {sample}"
    return ""
