"""Orders while every process is killed again and again and the receiver misbehaves: nothing acknowledged is lost.

Eight seconds of it here, a minute in `make test-extended`; GEAR_TEST_CHAOS_SEED gives another one.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic
from typing import Final

import httpx
import pytest
from sqlalchemy import select, tuple_, update

from api.settings import Settings
from api.webhooks.payload import message_id
from api.webhooks.schedule import JITTER, RETRY_DELAYS
from mappings.platforms import read_platforms
from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from store.schema import deliveries, order_events
from store.states import RELEASED
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.waiting import until
from tests.support.app import settings_for
from tests.support.examples import examples
from tests.support.faults.order_fleet import Fleet
from tests.support.faults.order_traffic import Traffic
from tests.support.faults.rough_receiver import Rough
from tests.support.services.receiver import Receiver
from tests.support.store.migrated import migrated

SECONDS = examples(8, 60)
SEED = os.environ.get("GEAR_TEST_CHAOS_SEED", "1")
CLIENTS: Final = 4
CONTESTED: Final = list(range(1, 9))
"""Items that all clients want, every other time; each has forty more of its own."""
STRIKES: Final = ("worker", "deliver", "all")
SETTLE_SECONDS: Final = 60.0
SLACK: Final = timedelta(seconds=30)
"""Between the time that a wait is counted from and the one that is noted with the attempt, on a busy machine."""


@dataclass(frozen=True)
class Place:
    """A database, an index of items, and the token of the clients."""

    settings: Settings
    store: Store
    created: CreatedToken
    items: set[int]


@pytest.fixture
async def place(database_url: str, opensearch_url: str, index_prefix: str, tmp_path: Path) -> AsyncIterator[Place]:
    """Everything that the processes share, on each database."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path, database_url=database_url)
    await migrated(database_url)
    numbers = [*CONTESTED, *(item for name in range(CLIENTS) for item in _own(name))]
    (platform,) = read_platforms()
    put_index(settings, platform, [simple_item(number) for number in numbers])
    store = Store(database_url)
    try:
        async with store.transaction() as connection:
            scopes = ["search", "order", "fulfil"]
            created = await tokens.create(connection, "shop", scopes, False, None, datetime.now(UTC))
        yield Place(settings, store, created, set(numbers))
    finally:
        await store.close()


def _own(name: int) -> list[int]:
    return list(range(1000 * (name + 1), 1000 * (name + 1) + 40))


@pytest.mark.timeout(300 + 2 * SECONDS)
async def test_nothing_acknowledged_is_lost_doubled_or_unsent(place: Place, tmp_path: Path) -> None:
    secret = place.created.token.webhook_secret
    rough = [Rough(f"{SEED} failing", secret, (70, 20, 10, 0)), Rough(f"{SEED} hanging", secret, (90, 0, 5, 5))]
    with ExitStack() as listening:
        receivers = [listening.enter_context(Receiver(behaviour.behaviour)) for behaviour in rough]
        urls = (receivers[0].url, receivers[0].url, receivers[0].url, receivers[1].url)
        async with Fleet(place.settings, tmp_path) as fleet:
            traffic = Traffic(lambda: fleet.address, place.created.plaintext, urls, SEED)
            await _chaos(fleet, traffic)
            for behaviour in rough:
                behaviour.calm()
            assert await _states(place.store) == {order_id: order.history for order_id, order in traffic.orders.items()}
            assert traffic.sold_twice() == []
            waiting = await _sound_outbox(place.store)
            await _settle(place, fleet, traffic)
    logging.getLogger(__name__).info(
        "%s orders, %s refused, %s calls repeated, killed %s, callbacks left to wait %s, sent %s",
        *(len(traffic.orders), traffic.refused, traffic.repeated, fleet.kills, waiting),
        [len(behaviour.arrived) for behaviour in rough],
    )
    _each_event_arrived(traffic, rough)
    assert len(traffic.orders) > 2 * CLIENTS
    assert set(fleet.kills) == set(STRIKES)


async def _chaos(fleet: Fleet, traffic: Traffic) -> None:
    """Orders and kills for so long; every call has been answered afterwards."""
    chance, stop = Random(f"{SEED} kills"), asyncio.Event()
    end = monotonic() + SECONDS
    async with asyncio.TaskGroup() as clients:
        for name in range(CLIENTS):
            clients.create_task(traffic.buy(name, (CONTESTED, _own(name)), stop))
        strikes = chance.sample(STRIKES, len(STRIKES))
        while strikes or monotonic() < end:
            await asyncio.sleep(chance.uniform(1.0, 3.0))
            await fleet.strike(strikes.pop() if strikes else chance.choice(STRIKES), chance)
        stop.set()


async def _states(store: Store) -> dict[str, list[str]]:
    """The states of each order that the database has, first to last."""
    histories: dict[str, list[str]] = {}
    async with store.reading() as connection:
        rows = select(order_events.c.order_id, order_events.c.state).order_by(order_events.c.order_id, order_events.c.n)
        for order_id, state in await connection.execute(rows):
            histories.setdefault(order_id, []).append(state)
    return histories


async def _sound_outbox(store: Store) -> dict[int, int]:
    """How many callbacks wait for a further attempt, by the attempts made before; fails for one that is lost: every
    event has its row, the first pending one of an order has a time, and no time is later than the schedule's.
    """
    async with store.reading() as connection:
        rows = (await connection.execute(select(deliveries).order_by(deliveries.c.order_id, deliveries.c.n))).all()
        events = (await connection.execute(select(order_events.c.order_id, order_events.c.n))).all()
    assert {(row.order_id, row.n) for row in rows} == {(event.order_id, event.n) for event in events}
    waiting: dict[int, int] = {}
    blocked: set[str] = set()
    for row in rows:
        if row.state == "delivered":
            assert row.order_id not in blocked, f"{row.order_id} heard of {row.n} before an earlier event"
            continue
        assert row.state == "pending", row
        assert (row.next_attempt_at is None) == (row.order_id in blocked), row
        blocked.add(row.order_id)
        if row.next_attempt_at is not None and row.last_attempt_at is not None and row.tries:
            latest = row.last_attempt_at + RETRY_DELAYS[row.tries - 1] * (1 + JITTER) + SLACK
            assert row.next_attempt_at <= latest, row
            waiting[row.tries] = waiting.get(row.tries, 0) + 1
    return waiting


async def _settle(place: Place, fleet: Fleet, traffic: Traffic) -> None:
    """Waits until every callback is delivered and searches offer exactly what no order binds."""
    left = place.items - {order.item for order in traffic.orders.values() if order.history[-1] not in RELEASED}
    headers = {"Authorization": f"Bearer {place.created.plaintext}"}
    async with httpx.AsyncClient(base_url=fleet.address, headers=headers, timeout=60) as client:

        async def settled() -> bool:
            await _time_passes(place.store)
            responses = [await client.post("/v1/gear/search", json={"limit": 100, "page": page}) for page in (1, 2)]
            offered = {item["id"] for response in responses for item in response.json()["gear"]}
            return offered == left and await _undelivered(place.store) == 0

        await until(settled, SETTLE_SECONDS)


async def _time_passes(store: Store) -> None:
    """As if what callbacks wait for had come: the next step of the schedule, and the end of a killed one's lease.

    What has no time, though it is its turn, goes on having none. Rows that a dispatcher is writing are left for the
    next call: waiting for them while holding others would be a deadlock.
    """
    pending = deliveries.c.state == "pending"
    now = datetime.now(UTC)
    row = tuple_(deliveries.c.order_id, deliveries.c.n)
    async with store.transaction() as connection:
        for where, values in (
            ((pending,), {"leased_until": None}),
            ((pending, deliveries.c.next_attempt_at.is_not(None)), {"next_attempt_at": now}),
        ):
            free = select(deliveries.c.order_id, deliveries.c.n).where(*where).with_for_update(skip_locked=True)
            await connection.execute(update(deliveries).where(row.in_(free)).values(values))

    async def sent() -> bool:
        """Whether every callback that is due has had its attempt."""
        async with store.reading() as connection:
            due = (pending, deliveries.c.next_attempt_at <= now)
            return (await connection.execute(select(deliveries.c.n).where(*due).limit(1))).first() is None

    await until(sent, SETTLE_SECONDS)


async def _undelivered(store: Store) -> int:
    async with store.reading() as connection:
        rows = await connection.execute(select(deliveries.c.n).where(deliveries.c.state != "delivered"))
        return len(rows.all())


def _each_event_arrived(traffic: Traffic, rough: list[Rough]) -> None:
    """Each event came, verified, and none before the one before it was taken."""
    assert [request for receiver in rough for request in receiver.unverified] == []
    expected = {
        message_id(order_id, n): f"order.{state}"
        for order_id, order in traffic.orders.items()
        for n, state in enumerate(order.history, start=1)
    }
    taken: set[str] = set()
    for receiver in rough:
        for identity, event, was_taken in receiver.arrived:
            assert expected[identity] == event
            before, _, n = identity.rpartition("_")
            assert n == "1" or f"{before}_{int(n) - 1}" in taken, f"{identity} came too soon"
            if was_taken:
                taken.add(identity)
    assert taken == set(expected)
