"""Clients that order and fulfil by a seed, and record what was acknowledged to them, and when.

A call that got no answer, or a 503, is made again until it is answered, as the contract says that it may be: so in the
end the model knows of each order whether it was placed, and each of its states.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Any, Final

import httpx
from sqlalchemy import select

from store.connection.engine import Store
from store.schema import order_events

RESPONSE_SECONDS: Final = 90.0  # for one call with all its repetitions, while processes are killed and started
PATHS: Final = (
    (),
    ("cancelled",),
    ("processing",),
    ("processing", "failed"),
    ("processing", "delivered", "completed"),
    ("processing", "delivered", "reverted"),
    ("processing", "delivered", "completed", "reverted"),
)
"""What becomes of an order after `created`."""
RELEASES: Final = ("cancelled", "failed", "reverted")


@dataclass
class Acknowledged:
    """An order that a client knows of. `from_` and `until` are moments (monotonic) between which it surely held its
    item: the 201 had come, and the call that releases it had not begun.
    """

    item: int
    from_: float
    until: float = float("inf")
    history: list[str] = field(default_factory=lambda: ["created"])


@dataclass
class Traffic:
    """What the clients of one service did. `address` tells where to send the next call, `note` hears of each answer."""

    address: Callable[[], str]
    token: str
    receivers: tuple[str, ...]
    seed: str
    note: Callable[[str, httpx.Response], None] = lambda _kind, _response: None
    orders: dict[str, Acknowledged] = field(default_factory=dict)
    refused: int = 0
    repeated: int = 0

    async def buy(self, name: int, pools: tuple[list[int], ...], stop: asyncio.Event) -> None:
        """One client: orders items of any pool and sees each order through, until it is to stop."""
        chance = Random(f"{self.seed} {name}")
        number = 0
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}) as client:
            while not stop.is_set():
                number += 1
                await self._order(client, chance, f"{name} {number}", chance.choice(chance.choice(pools)))
                await asyncio.sleep(chance.random() / 20)

    async def _order(self, client: httpx.AsyncClient, chance: Random, key: str, item: int) -> None:
        body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(item)}
        body["callbackUrl"] = chance.choice(self.receivers)
        placing: dict[str, Any] = {"json": body, "headers": {"Idempotency-Key": key}}
        response = await self._call(client, "/v1/gear", **placing)
        if response.status_code == 409:
            assert response.json()["error"]["code"] == "item_unavailable", response.text
            self.refused += 1
            return
        assert response.status_code == 201, response.text
        order_id = response.json()["order"]["id"]
        acknowledged = self.orders[order_id] = Acknowledged(item, monotonic())
        if chance.random() < 0.1:
            again = await self._call(client, "/v1/gear", **placing)
            assert (again.status_code, again.json()["order"]["id"]) == (201, order_id), again.text
        for state in chance.choice(PATHS):
            if state in RELEASES:
                acknowledged.until = monotonic()
            moved = await self._call(client, f"/v1/orders/{order_id}/transitions", json={"to": state})
            # nobody else moves this order, so where it is there already an earlier call's answer was lost
            assert moved.status_code == 200 or f"is {state} already" in moved.text, moved.text
            acknowledged.history.append(state)

    async def _call(self, client: httpx.AsyncClient, path: str, **more: Any) -> httpx.Response:
        """The answer to a call that is made until there is one."""
        async with asyncio.timeout(RESPONSE_SECONDS):
            while True:
                try:
                    response = await client.post(f"{self.address()}{path}", timeout=20, **more)
                except httpx.TransportError:
                    pass
                else:
                    self.note("order", response)
                    if response.status_code not in (429, 503):
                        return response
                self.repeated += 1
                await asyncio.sleep(0.1)

    def sold_twice(self) -> list[int]:
        """Items that two orders held at one moment."""
        by_item: dict[int, list[Acknowledged]] = {}
        for order in sorted(self.orders.values(), key=lambda order: order.from_):
            by_item.setdefault(order.item, []).append(order)
        return [
            item
            for item, one_after_the_other in by_item.items()
            if any(
                earlier.until > later.from_
                for place, later in enumerate(one_after_the_other)
                for earlier in one_after_the_other[:place]
            )
        ]


async def stored_histories(database_url: str) -> dict[str, list[str]]:
    """The states of each order that the database has, first to last."""
    histories: dict[str, list[str]] = {}
    store = Store(database_url)
    try:
        async with store.reading() as connection:
            columns = select(order_events.c.order_id, order_events.c.state)
            rows = await connection.execute(columns.order_by(order_events.c.order_id, order_events.c.n))
            for order_id, state in rows:
                histories.setdefault(order_id, []).append(state)
    finally:
        await store.close()
    return histories
