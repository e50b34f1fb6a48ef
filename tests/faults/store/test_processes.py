"""A killed worker process leaves all of its order in the database, or nothing."""

import asyncio

from store.auth.tokens import CreatedToken
from store.bound_items import bound_among
from store.connection.engine import Store
from store.connection.errors import ItemTaken, StoreUnavailable
from store.orders import orders
from store.outbox import index_outbox
from store.records import Order
from tests.support.store.fixtures import NOW
from tests.support.store.new_order import new_order
from tests.support.store.processes import buyer


async def place(store: Store, token: CreatedToken, item: int) -> Order:
    """Places the order as soon as the rival's connection is known to be gone."""
    while True:
        try:
            async with store.transaction() as connection:
                return await orders.place(connection, new_order(token.token.id, item), NOW)
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def test_a_worker_killed_before_its_commit_leaves_nothing(url: str, store: Store, token: CreatedToken) -> None:
    worker = await buyer(url, token, "5", "--hold")
    assert worker.stdout is not None
    assert await worker.stdout.readline() == b"holding\n"
    worker.kill()
    await worker.communicate()
    async with store.reading() as connection:
        assert not await bound_among(connection, 730, [5])
        assert (await index_outbox.pending(connection))[0] == 0
    assert (await place(store, token, 5)).active


async def test_a_worker_killed_after_its_commit_has_sold_the_item(url: str, store: Store, token: CreatedToken) -> None:
    worker = await buyer(url, token, "5", "--die")
    await worker.communicate()
    async with store.reading() as connection:
        assert await bound_among(connection, 730, [5])
        assert (await index_outbox.pending(connection))[0] == 1
    try:
        await place(store, token, 5)
    except ItemTaken:
        return
    raise AssertionError("the item was sold twice")
