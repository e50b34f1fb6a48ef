"""How long a price list is given without asking whether the index has changed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from api.background.tasks import BackgroundTasks
from api.engine.responses import Json
from api.search.prices.price_lists import PriceLists
from api.search.response_cache import IndexRevision
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))


async def test_a_list_is_fresh_from_its_beginning_on_for_it_is_as_old() -> None:
    requests = 0

    async def ask(_: Any) -> bytes:
        nonlocal requests
        requests += 1
        return b"the same"

    async def rows() -> AsyncIterator[Json]:
        await asyncio.sleep(0.1)
        yield {"name": "AK-47 | Redline (Field-Tested)"}

    tasks = BackgroundTasks()
    lists = PriceLists(IndexRevision(ask, tasks), tasks, fresh_seconds=0.05)
    prices = await lists.make((730, None), CS2, rows)
    assert requests == 1
    assert await lists.current((730, None), CS2) is prices
    assert requests == 2
