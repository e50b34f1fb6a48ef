"""Tokens whose receivers all hang: nobody else's callbacks wait for them."""

from dataclasses import replace
from datetime import UTC, datetime
from ipaddress import IPv4Address

import pytest

from api.webhooks.addresses import Address
from api.webhooks.limits import FreeCapacity
from api.webhooks.sender import Sender
from store.auth import tokens
from store.orders import orders
from store.records import Order
from tests.support.api.waiting import until
from tests.support.orders.desk import Desk, dispatching, order_with_callback
from tests.support.services import receiver as behaviours
from tests.support.services.receiver import Receiver

HOSTS = 110
"""Of each token: more receivers than a token may have attempts under way, each with one callback."""


async def everything_is_here(_host: str) -> list[Address]:
    """A name server that has this machine for every name."""
    return [IPv4Address("127.0.0.1")]


async def place_hanging(desk: Desk, name: str, port: int, *, sandbox: bool) -> None:
    """A token with an order for each of its many receivers."""
    async with desk.store.transaction() as connection:
        token = await tokens.create(connection, name, ["order"], sandbox, None, datetime.now(UTC))
        for number in range(HOSTS):
            url = f"http://{name}-{number}.example.com:{port}/hook"
            new = replace(order_with_callback(token.token.id, url), sandbox=sandbox)
            await orders.place(connection, new, datetime.now(UTC))


@pytest.mark.parametrize("sandbox", [True, False])
async def test_tokens_whose_receivers_all_hang_delay_nobody(desk: Desk, sandbox: bool) -> None:
    with Receiver(behaviours.hangs) as hanging, Receiver() as quick:
        for name in ("one", "two"):
            await place_hanging(desk, name, hanging.port, sandbox=sandbox)
        sender = Sender(allow_insecure=True, lookup=everything_is_here, seconds=60)
        async with dispatching(desk.store, sender=sender, stop_seconds=0) as dispatcher:

            async def is_saturated() -> bool:
                attempts = dispatcher._attempts.values()
                has_started_all = hanging.connections == len(attempts)
                return has_started_all and len(FreeCapacity(attempts).saturated().tokens) == 2

            await until(is_saturated, otherwise="the tokens do not have their shares")
            assert hanging.connections >= (14 if sandbox else 100)
            order: Order = await desk.place(quick.url)
            dispatcher.worker.wake()
            await desk.until(order, "delivered")
    [delivery] = await desk.deliveries(order)
    assert (delivery.attempts[0].at - order.created_at).total_seconds() < 20  # the receivers hang for a minute
    if sandbox:
        assert hanging.connections <= 20
