"""Several worker processes on one database: no item is sold twice, and a killed worker leaves all or nothing."""

import asyncio
import json
import subprocess
import sys
from asyncio.subprocess import Process
from pathlib import Path

from store.auth.tokens import CreatedToken
from store.bound_items import bound_among, bound_items
from store.connection.engine import Store
from store.connection.errors import ItemTaken, StoreUnavailable
from store.orders import orders
from store.outbox import index_outbox
from store.records import Order
from tests.support.store.fixtures import NOW
from tests.support.store.new_order import new_order


async def buyer(url: str, token: CreatedToken, *arguments: str) -> Process:
    command = (sys.executable, "-W", "error", "-m", "tests.support.store.buyer", url, token.token.id, *arguments)
    root = Path(__file__).parents[3]
    return await asyncio.create_subprocess_exec(*command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


async def place(store: Store, token: CreatedToken, item: int) -> Order:
    """Places the order as soon as the rival's connection is known to be gone."""
    while True:
        try:
            async with store.transaction() as connection:
                return await orders.place(connection, new_order(token.token.id, item), NOW)
        except StoreUnavailable:
            await asyncio.sleep(0.05)


async def test_workers_never_sell_an_item_twice(url: str, store: Store, token: CreatedToken) -> None:
    items = [str(item) for item in range(60)]
    workers = [await buyer(url, token, *(items if turn % 2 else reversed(items))) for turn in range(3)]
    ended = await asyncio.gather(*(worker.communicate() for worker in workers))
    assert [worker.returncode for worker in workers] == [0, 0, 0], ended
    won = [item for out, _ in ended for item in json.loads(out)]
    assert sorted(won) == list(range(60))
    async with store.reading() as connection:
        assert await bound_items(connection, 730, None, 100) == list(range(60))


async def test_a_worker_killed_before_its_commit_leaves_nothing(url: str, store: Store, token: CreatedToken) -> None:
    worker = await buyer(url, token, "5", "--hold")
    assert worker.stdout is not None
    assert await worker.stdout.readline() == b"holding\n"
    worker.kill()
    await worker.communicate()
    async with store.reading() as connection:
        assert not await bound_among(connection, 730, [5])
        assert await index_outbox.count_pending(connection) == 0
    assert (await place(store, token, 5)).active


async def test_a_worker_killed_after_its_commit_has_sold_the_item(url: str, store: Store, token: CreatedToken) -> None:
    worker = await buyer(url, token, "5", "--die")
    await worker.communicate()
    async with store.reading() as connection:
        assert await bound_among(connection, 730, [5])
        assert await index_outbox.count_pending(connection) == 1
    try:
        await place(store, token, 5)
    except ItemTaken:
        return
    raise AssertionError("the item was sold twice")
