"""A broker, followers, writers, readers and a shop beside reloads, killed in turn by a seeded schedule.

Nothing is lost, doubled or out of order. Each kill comes once here; GEAR_TEST_STREAMS_SECONDS and
GEAR_TEST_STREAMS_SEED give longer and other schedules.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final

import httpx
import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mappings.platforms import read_platforms
from store.states import RELEASED
from tests.support.api.catalogue import put_index
from tests.support.api.waiting import until
from tests.support.app import ALL_SCOPES, new_token, settings_for
from tests.support.clients import EXAMPLES, PYTHON_CLIENT
from tests.support.faults.hosts import ROOT, Host, Hosts, running_hosts
from tests.support.faults.order_traffic import Traffic, stored_histories
from tests.support.services.receiver import Receiver
from tests.support.store.migrated import migrated
from tests.support.store.postgres import Postgres
from tests.support.streams.changes import Json, Reader, all_items
from tests.support.streams.kafka import Kafka, running_kafka
from tests.support.streams.parts import Anywhere, Copy, Part
from tests.support.streams.saved_searches import saved
from tests.support.streams.source import Source, Topic, by_http, first_items

SECONDS = float(os.environ.get("GEAR_TEST_STREAMS_SECONDS", "0"))
SEED = os.environ.get("GEAR_TEST_STREAMS_SEED", "1")
BUYERS: Final = 3
FOLLOWERS: Final = 2
CONTESTED: Final = list(range(1, 9))
CHANGING: Final = list(range(90_001, 90_301))
SETTLE_SECONDS: Final = 120.0
LOADS_A_CATALOGUE: Final = 8  # tries, of which one may be killed
INDEXER: Final = ("-c", "from indexer.cli.main import main; main()")
# the index that a feed without a recorder goes on from must stay: here there is a load every few seconds
LOAD: Final = ("load", "--platform", "730", "--quiet", "--min-share", "0", "--max-price-change", "100", "--keep", "9")
SEARCHES: Final[tuple[Json, ...]] = (
    {"platform": 730},
    {"platform": 730, "filters": {"price": {"max": 20}}},
    {"platform": 730, "query": "asiimov"},
)


@dataclass
class Schedule:
    """Everything that the run is made of."""

    hosts: Hosts
    client: httpx.AsyncClient
    source: Source
    kafka: Kafka
    topic: Topic
    traffic: Traffic
    receiver: Receiver
    variables: dict[str, str]
    folder: Path
    chance: Random
    followers: list[Part]
    copy: Copy
    reader: Part
    loader: Process | None = None
    counts: Counter[str] = field(default_factory=Counter)


@pytest.fixture
async def schedule(
    postgres: Postgres, opensearch_url: str, index_prefix: str, tmp_path: Path
) -> AsyncIterator[Schedule]:
    """A shop of two hosts on PostgreSQL, a broker with two followers, and a reader that keeps a copy."""
    database_url = await postgres.new_database("streams")
    await migrated(database_url)
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=database_url)
    (platform,) = read_platforms()
    chance = Random(f"{SEED} schedule")
    source = Source(CHANGING, [*CONTESTED, *(number for name in range(BUYERS) for number in _own(name))])
    put_index(settings, platform, first_items(source, chance))
    token = await new_token(database_url, *ALL_SCOPES)
    variables = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": index_prefix,
        "GEAR_DATABASE_URL": database_url,
        "GEAR_PUBLIC_URL": "http://gear.test",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
    }
    async with AsyncExitStack() as stack:
        kafka = stack.enter_context(running_kafka())
        shop, receiver = (stack.enter_context(Receiver()) for _ in range(2))
        hosts = await stack.enter_async_context(running_hosts(variables, tmp_path, SEED))
        headers = {"Authorization": f"Bearer {token}"}
        anywhere = httpx.AsyncClient(
            transport=Anywhere(hosts.address), base_url="http://gear.test", headers=headers, timeout=90
        )
        client = await stack.enter_async_context(anywhere)
        topic = Topic(kafka, f"{index_prefix}-730", chance)
        copy = Copy(tmp_path / "copy.db")
        follow = (*INDEXER, "follow", topic.address, "--platform", "730", "--quiet")
        read = (str(EXAMPLES / "feed_reader.py"), str(copy.file), "730")

        def reading() -> dict[str, str]:
            return {"GEAR_URL": hosts.address(), "GEAR_TOKEN": token, "PYTHONPATH": f"{ROOT}:{PYTHON_CLIENT}"}

        yield Schedule(
            hosts=hosts,
            client=client,
            source=source,
            kafka=kafka,
            topic=topic,
            traffic=Traffic(hosts.address, token, (shop.url,), SEED),
            receiver=receiver,
            variables=variables,
            folder=tmp_path,
            chance=chance,
            followers=[Part(tmp_path / f"follower-{n}.log", follow, lambda: variables) for n in range(FOLLOWERS)],
            copy=copy,
            reader=Part(tmp_path / "reader.log", read, reading),
        )


def _own(name: int) -> list[int]:
    return list(range(1000 * (name + 1), 1000 * (name + 1) + 200))


async def broker(schedule: Schedule) -> None:
    """The broker dies and comes back with what it has."""
    schedule.kafka.kill()
    await asyncio.sleep(schedule.chance.uniform(0.5, 3))
    await asyncio.to_thread(schedule.kafka.start)


async def follower(schedule: Schedule) -> None:
    """One of the followers dies."""
    schedule.chance.choice(schedule.followers).kill()


async def reader(schedule: Schedule) -> None:
    """The reader of the feed dies."""
    schedule.reader.kill()


async def host(schedule: Schedule) -> None:
    """One of the hosts dies."""
    await _restart(schedule, schedule.chance.choice(schedule.hosts.hosts))


async def recorder(schedule: Schedule) -> None:
    """The host dies that records the feed."""
    async with asyncio.timeout(SETTLE_SECONDS):
        while True:
            for server in schedule.hosts.hosts:
                if await _metric(schedule, server, "gear_feed_lag_seconds"):
                    await _restart(schedule, server)
                    return
            await asyncio.sleep(0.2)


async def loader(schedule: Schedule) -> None:
    """A load dies in the middle of its work."""
    async with asyncio.timeout(SETTLE_SECONDS):
        while True:
            before = schedule.loader
            await asyncio.sleep(schedule.chance.uniform(0.3, 4))
            if before is not None and before is schedule.loader and before.returncode is None:
                before.kill()
                return


STRIKES: Final[tuple[Callable[[Schedule], Awaitable[None]], ...]] = (broker, follower, reader, host, recorder, loader)


async def _restart(schedule: Schedule, killed: Host) -> None:
    killed.kill()
    await asyncio.sleep(schedule.chance.uniform(0, 2))
    await killed.start()
    await schedule.hosts.until_ready(killed)


async def _metric(schedule: Schedule, of: Host, name: str) -> float:
    """The sum of one metric's samples of a host; 0 where it does not answer."""
    async with httpx.AsyncClient(headers=schedule.client.headers, timeout=10, verify=False) as client:
        try:
            text = (await client.get(f"{of.address}/metrics")).text
        except httpx.TransportError:
            return 0.0
    families = text_string_to_metric_families(text)
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


async def _reload(schedule: Schedule, stop: asyncio.Event) -> None:
    """Loads the catalogue again and again; a load that was killed is resumed, or begun anew with a newer export."""
    file, tries, chance = schedule.folder / "catalogue.ndjson", 0, Random(f"{SEED} loads")
    options: tuple[str, ...] = ()
    exported = schedule.source.export(file)
    while not stop.is_set() or tries:
        with (schedule.folder / "loads.log").open("ab") as log:
            schedule.loader = await asyncio.create_subprocess_exec(
                sys.executable,
                *(*INDEXER, *LOAD, str(file), *options),
                env={**os.environ, "PYTHONPATH": str(ROOT), **schedule.variables},
                cwd=schedule.folder,
                stdout=log,
                stderr=log,
            )
            code = await schedule.loader.wait()
        schedule.source.tell_again(exported)
        schedule.counts[f"load {code}"] += 1
        tries = tries + 1 if code else 0
        assert tries < LOADS_A_CATALOGUE, (schedule.folder / "loads.log").read_text()[-3000:]
        options = ("--resume",) if code == -signal.SIGKILL and chance.random() < 0.5 else ()
        await asyncio.sleep(1)
        if not options:
            exported = schedule.source.export(file)


@pytest.mark.timeout(500 + 2 * SECONDS)
async def test_nothing_is_lost_doubled_or_out_of_order(schedule: Schedule) -> None:
    readers = [await Reader(schedule.client, search, limit=1000).begin() for search in SEARCHES]
    slow = Reader(schedule.client, SEARCHES[0], limit=97, items=dict(readers[0].items), next=readers[0].next)
    searches = [await saved(schedule.client, schedule.receiver, f"n{n}", **each) for n, each in enumerate(SEARCHES)]
    async with asyncio.TaskGroup() as group:
        parts = [group.create_task(part.run()) for part in (*schedule.followers, schedule.reader)]
        await _until(schedule.copy.is_started)
        await _run(schedule, readers)
        await schedule.topic.flush()
        await _settle(schedule, readers)
        for part in parts:
            part.cancel()
    _log(schedule, readers)
    await slow.agrees()
    assert slow.changes == readers[0].changes
    assert schedule.copy.changes() == [(change["id"], change.get("gear")) for change in readers[0].changes]
    for search, feed_reader in zip(searches, readers, strict=True):
        await _called_back_once(schedule, search["id"], feed_reader)
    assert schedule.traffic.sold_twice() == []
    assert await stored_histories(schedule.variables["GEAR_DATABASE_URL"]) == {
        order: placed.history for order, placed in schedule.traffic.orders.items()
    }
    assert _rejected(schedule) == schedule.topic.unreadable
    assert len(schedule.traffic.orders) > BUYERS


async def _run(schedule: Schedule, readers: list[Reader]) -> None:
    """Everything at once, until each part was killed, two loads ended well and the time is over; then all is told."""
    stop, end = asyncio.Event(), monotonic() + SECONDS
    async with asyncio.TaskGroup() as group:
        for number, send in enumerate((by_http(schedule.client), by_http(schedule.client), schedule.topic.send)):
            group.create_task(schedule.source.tell(send, Random(f"{SEED} writer {number}"), stop))
        for name in range(BUYERS):
            group.create_task(schedule.traffic.buy(name, (CONTESTED, _own(name)), stop))
        for feed_reader in readers:
            group.create_task(_read(feed_reader, stop))
        group.create_task(_reload(schedule, stop))
        strikes = schedule.chance.sample(STRIKES, len(STRIKES))
        while strikes or monotonic() < end:
            await asyncio.sleep(schedule.chance.uniform(1, 3))
            strike = strikes.pop() if strikes else schedule.chance.choice(STRIKES)
            await strike(schedule)
            schedule.counts[strike.__name__] += 1
        await _until(lambda: schedule.counts["load 0"] > 1)
        stop.set()
    # a load that ended last told again what the writers did not wait for
    await schedule.source.tell(by_http(schedule.client), Random(f"{SEED} last"), stop)


async def _read(feed_reader: Reader, stop: asyncio.Event) -> None:
    while not stop.is_set():
        await feed_reader.read(wait=2)


async def _settle(schedule: Schedule, readers: list[Reader]) -> None:
    """Waits until searches find what the source has and no order binds, and readers have what searches find."""
    kafka, topic = schedule.kafka, schedule.topic
    await _until(lambda: kafka.committed(topic.name, topic.name) == topic.sent)
    orders = schedule.traffic.orders.values()
    bound = {order.item for order in orders if order.history[-1] not in RELEASED}
    expected = {item["id"]: item for item in schedule.source.offered() if item["id"] not in bound}
    items: dict[int, Json] = {}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SETTLE_SECONDS):
            while {number: _identity(item) for number, item in items.items()} != expected:
                await asyncio.sleep(0.2)
                items = await all_items(schedule.client, SEARCHES[0])
    different = {
        number: (expected.get(number), items.get(number))
        for number in expected.keys() | items.keys()
        if number not in expected or number not in items or _identity(items[number]) != expected[number]
    }
    assert different == {}, "what the source has, and what searches find"
    for feed_reader in readers:
        await feed_reader.agrees()
    await _until(lambda: schedule.copy.items() == readers[0].items)


def _identity(item: Json) -> Json:
    return {name: item[name] for name in ("id", "name", "price")}


async def _called_back_once(schedule: Schedule, search_id: str, feed_reader: Reader) -> None:
    """The receiver got exactly what came to match, in its order; a callback that came twice is the same."""
    expected = [_match(change) for change in feed_reader.changes if change["change"] == "listed"]

    def matches() -> list[Any]:
        callbacks: dict[str, bytes] = {}
        for received in list(schedule.receiver.received):
            assert callbacks.setdefault(received.headers["webhook-id"], received.body) == received.body
        bodies = [json.loads(body)["data"] for body in callbacks.values()]
        mine = [body["changes"] for body in bodies if body["search"]["id"] == search_id]
        return [_match(change) for changes in mine for change in changes]

    with contextlib.suppress(TimeoutError):
        await _until(lambda: len(matches()) >= len(expected))
    assert matches() == expected


def _match(change: Json) -> tuple[int, str, Json]:
    return change["id"], change["at"], change["gear"]


async def _until(condition: Callable[[], bool]) -> None:
    async def so() -> bool:
        return await asyncio.to_thread(condition)

    await until(so, SETTLE_SECONDS)


def _rejected(schedule: Schedule) -> int:
    """How many messages the followers refused; one that was read twice is one."""
    files = schedule.folder.glob("*.rejects.ndjson")
    entries = (orjson.loads(line) for file in files for line in file.read_bytes().splitlines())
    return len({(entry["file"], entry["line"]) for entry in entries})


def _log(schedule: Schedule, readers: list[Reader]) -> None:
    source, topic, traffic = schedule.source, schedule.topic, schedule.traffic
    kinds = Counter(change["change"] for change in readers[0].changes)
    logging.getLogger(__name__).warning(
        "%s; %s changes told, %s messages; the feed has %s; %s orders, %s refused, %s calls repeated; %s callbacks",
        *(dict(schedule.counts), source.sent, topic.sent, dict(kinds), len(traffic.orders), traffic.refused),
        *(traffic.repeated, len(schedule.receiver.received)),
    )
