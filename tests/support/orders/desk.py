"""Orders with callbacks in a database, their dispatchers and what these did. Needs no engine."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from api.background.tasks import STOP_SECONDS, StopDeadline
from api.background.workers import running
from api.orders.responses import order_entry
from api.webhooks.dispatcher import Dispatcher
from api.webhooks.sender import Sender
from mappings.platforms import read_platforms
from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from store.orders import orders
from store.outbox import deliveries, redelivery
from store.outbox.redelivery import Delivery
from store.records import NewOrder, Order
from tests.support.api.waiting import until
from tests.support.store.new_order import new_order

PUBLIC_URL = "http://gear.test"
QUICK = (timedelta(milliseconds=50),) * 3
"""A schedule of four attempts for tests that see a delivery to its end."""

_ITEMS = count(1)


@dataclass(frozen=True)
class Desk:
    """One database and a client's token."""

    store: Store
    url: str
    token: CreatedToken

    async def place(self, callback_url: str | None, token: CreatedToken | None = None) -> Order:
        """An order, as the service keeps one."""
        async with self.store.transaction() as connection:
            return await orders.place(
                connection, order_with_callback((token or self.token).token.id, callback_url), datetime.now(UTC)
            )

    async def move(self, order: Order, *states: str) -> Order:
        """Takes the order through these states."""
        for state in states:
            async with self.store.transaction() as connection:
                moved = await orders.move(connection, order.id, [order.state], state, None, datetime.now(UTC))
            assert moved is not None
            order = moved
        return order

    async def deliveries(self, order: Order) -> list[Delivery]:
        """What became of the order's callbacks."""
        async with self.store.reading() as connection:
            return await redelivery.of_order(connection, order.id)

    async def states(self, order: Order) -> list[str]:
        """The states of the order's callbacks."""
        return [delivery.state for delivery in await self.deliveries(order)]

    async def outcomes(self, order: Order) -> list[tuple[str, int | None]]:
        """How each attempt of the first callback ended."""
        return [(each.outcome, each.status_code) for each in (await self.deliveries(order))[0].attempts]

    async def until(self, order: Order, *states: str) -> None:
        """Waits until the order's callbacks are in these states."""

        async def so() -> bool:
            return await self.states(order) == list(states)

        await until(so, otherwise=f"the callbacks of {order.id} are not {states}")

    async def until_tried(self, order: Order, times: int) -> None:
        """Waits until the first callback was attempted so many times."""

        async def so() -> bool:
            return len(await self.outcomes(order)) >= times

        await until(so, otherwise=f"the first callback of {order.id} was not attempted {times} times")

    async def replay(self, order: Order, n: int) -> Delivery | None:
        """What the client's replay does."""
        async with self.store.transaction() as connection:
            return await redelivery.replay(connection, order.id, n, datetime.now(UTC))

    async def backlog(self) -> int:
        """How many callbacks are overdue."""
        async with self.store.reading() as connection:
            return (await deliveries.overdue(connection, datetime.now(UTC)))[0]


def order_with_callback(token_id: str, callback_url: str | None) -> NewOrder:
    """An order of an item that no other one has."""
    return new_order(token_id, next(_ITEMS), callback_url=callback_url)


@asynccontextmanager
async def dispatching(
    store: Store, *, sender: Sender | None = None, stop_seconds: float = STOP_SECONDS, **more: Any
) -> AsyncIterator[Dispatcher]:
    """A dispatcher at work, by default one that may go to this machine: as patient as the product's, because an
    attempt that met its deadline while the machine stood still is made again.
    """
    async with sender or Sender(allow_insecure=True) as opened:
        entries = partial(order_entry, platforms=read_platforms(), public_url=PUBLIC_URL)
        stop = StopDeadline(stop_seconds)
        dispatcher = Dispatcher(store, entries, opened, stop, **{"delays": QUICK, **more})
        async with dispatcher.closing(), running(dispatcher.worker, stop=stop):
            yield dispatcher


@asynccontextmanager
async def desk_at(url: str) -> AsyncIterator[Desk]:
    """A new client's token in the migrated database of this address."""
    store = Store(url)
    try:
        async with store.transaction() as connection:
            created = await tokens.create(connection, "shop", ["order"], False, None, datetime.now(UTC))
        yield Desk(store, url, created)
    finally:
        await store.close()
