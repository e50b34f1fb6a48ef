"""Several worker processes on one database: no item is sold twice."""

import asyncio
import json

from store.auth.tokens import CreatedToken
from store.bound_items import bound_items
from store.connection.engine import Store
from tests.support.store.processes import buyer


async def test_workers_never_sell_an_item_twice(url: str, store: Store, token: CreatedToken) -> None:
    items = [str(item) for item in range(60)]
    workers = [await buyer(url, token, *(items if turn % 2 else reversed(items))) for turn in range(3)]
    ended = await asyncio.gather(*(worker.communicate() for worker in workers))
    assert [worker.returncode for worker in workers] == [0, 0, 0], ended
    won = [item for out, _ in ended for item in json.loads(out)]
    assert sorted(won) == list(range(60))
    async with store.reading() as connection:
        assert await bound_items(connection, 730, None, 100) == list(range(60))
