"""An index of several shards: changes in each of them are told, whichever has more operations than the others."""

import asyncio
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import pytest

from api.settings import Settings
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.app import RunningApp, running
from tests.support.indexer.fixtures import Place
from tests.support.orders.shop import Shop
from tests.support.streams.changes import Json, Reader

SHARDS = 3
EMPTY = 2
"""The shard that has no item at first."""
SOON = 10.0  # seconds: twice two in which a busy machine does nothing


@pytest.fixture
def numbers(feed_settings: Settings, place: Place) -> dict[int, list[int]]:
    """Ids by their shard; an index of several has the first two of all shards but one."""
    put_index(feed_settings, CS2, [], datetime.now(UTC) - timedelta(minutes=1), shards=SHARDS)
    numbers = defaultdict[int, list[int]](list)
    for number in range(1, 60):
        response = place.client.search_shards(index=place.alias, params={"routing": str(number)})
        numbers[response["shards"][0][0]["shard"]].append(number)
    items = [simple_item(number) for shard, ids in numbers.items() if shard != EMPTY for number in ids[:2]]
    put_index(feed_settings, CS2, items, shards=SHARDS)
    return numbers


async def reports(reader: Reader, *changes: tuple[int, str]) -> None:
    """The reader gets these changes and no others, soon."""
    async with asyncio.timeout(SOON):
        assert sorted((change["id"], change["change"]) for change in await reader.until(len(changes))) == [*changes]


async def put(app: RunningApp, *items: Json) -> None:
    response = await app.client.put("/v1/catalogue/730/items", json=list(items))
    assert response.json()["written"] == len(items), response.text


async def test_changes_in_every_shard_are_reported_once(feed_settings: Settings, numbers: dict[int, list[int]]) -> None:
    async with running(feed_settings) as app:
        reader = await Reader(app.client).begin()
        for shard in range(SHARDS):
            new = numbers[shard][2]
            await put(app, simple_item(new))
            await reports(reader, (new, "listed"))
        assert await reader.read(wait=1) == []
        for shard in range(SHARDS):
            new = numbers[shard][2]
            await put(app, simple_item(new, 5))
            await reports(reader, (new, "changed"))
            await app.client.request("DELETE", "/v1/catalogue/730/items", json={"ids": [new]})
            await reports(reader, (new, "gone"))
        for shard in {*range(SHARDS)} - {EMPTY}:
            sold = numbers[shard][0]
            order = await Shop(app).placed(sold)
            await reports(reader, (sold, "gone"))
            await Shop(app).move(order["id"], "created", "cancelled")
            await reports(reader, (sold, "listed"))
        assert await reader.read(wait=1) == []
        await reader.agrees()
        last = numbers[EMPTY][3]
        await put(app, simple_item(last))
    async with running(feed_settings) as app:
        reader.client = app.client
        await reports(reader, (last, "listed"))
        several = sorted(numbers[shard][4] for shard in range(SHARDS))
        await put(app, *map(simple_item, several))
        await reports(reader, *((number, "listed") for number in several))
        assert await reader.read(wait=1) == []
        await reader.agrees()
