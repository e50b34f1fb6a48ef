"""The disk of the database is full while orders are placed: 503, nothing acknowledged is lost, and it works again."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest

from api.settings import Settings
from store import migrate
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import settings_for
from tests.support.faults.small_disk import SmallDisk, small_disk
from tests.support.orders.shop import FREE, KNIFE, LARGEST, Shop, load, opened
from tests.support.services.receiver import Receiver
from tests.support.store.postgres import Postgres

MAX_ORDERS = 3000  # many times what fits into the blocks that a database holds in reserve


@pytest.fixture
def disk() -> Iterator[SmallDisk]:
    """A disk of 24 MiB: an empty database of PostgreSQL has nearly eight."""
    with small_disk(24) as mounted:
        yield mounted


@pytest.fixture
async def sqlite_there(disk: SmallDisk) -> str:
    """A migrated SQLite file on it."""
    url = f"sqlite+aiosqlite:///{disk.folder}/gear.db"
    await migrate.upgrade(url)
    return url


@pytest.fixture
async def postgres_there(disk: SmallDisk, postgres: Postgres) -> AsyncIterator[str]:
    """A migrated database of PostgreSQL whose tables are on it; the server's log of writes is elsewhere."""
    place = disk.folder / "tables"
    place.mkdir()
    shutil.chown(place, postgres.account())
    await postgres.execute(
        f"CREATE TABLESPACE small_disk LOCATION '{place}'", "CREATE DATABASE orders_small TABLESPACE small_disk"
    )
    url = postgres.url("orders_small")
    await migrate.upgrade(url)
    yield url
    await postgres.execute("DROP DATABASE orders_small WITH (FORCE)", "DROP TABLESPACE small_disk")


@pytest.fixture(params=["sqlite_there", "postgres_there"])
def url_there(request: pytest.FixtureRequest) -> str:
    """The address of each of them."""
    return str(request.getfixturevalue(request.param))


@pytest.fixture
async def settings_there(url_there: str, opensearch_url: str, index_prefix: str, tmp_path: Path) -> Settings:
    """Settings of an app with items on it."""
    settings = settings_for(
        opensearch_url, index_prefix, tmp_path, database_url=url_there, allow_insecure_callbacks=True
    )
    await load(settings)
    return settings


async def keyed(shop: Shop, key: str, item: int, callback_url: str) -> httpx.Response:
    """An order with this key."""
    body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(item)}
    body["callbackUrl"] = callback_url + "&" + "x" * 1500  # so that a page of the database is full soon
    return await shop.app.client.post("/v1/gear", json=body, headers={"Idempotency-Key": key})


async def cancel(shop: Shop, order_id: str) -> httpx.Response:
    """Its own token cancels the order."""
    return await shop.app.client.post(f"/v1/orders/{order_id}/transitions", json={"to": "cancelled"})


async def orders_until_full(shop: Shop, url: str) -> tuple[dict[str, str], httpx.Response]:
    """Orders and cancels until the disk has no room: the acknowledged orders by their keys, and the first refusal."""
    acknowledged: dict[str, str] = {}
    for number in range(MAX_ORDERS):
        response = await keyed(shop, f"k{number}", KNIFE, url)
        if response.status_code != 201:
            return acknowledged, response
        acknowledged[f"k{number}"] = response.json()["order"]["id"]
        response = await cancel(shop, acknowledged[f"k{number}"])
        if response.status_code != 200:
            return acknowledged, response
    raise AssertionError("the disk is not full")


async def all_orders(shop: Shop) -> dict[str, str]:
    """Every order's state by its id."""
    states: dict[str, str] = {}
    query = "?limit=100"
    while True:
        page = (await shop.get(f"/v1/orders{query}")).json()
        states.update({order["id"]: order["state"] for order in page["orders"]})
        if page["nextCursor"] is None:
            return states
        query = f"?limit=100&cursor={page['nextCursor']}"


async def delivered(shop: Shop, order_id: str) -> bool:
    """Whether every callback of the order has been."""
    deliveries = (await shop.get(f"/v1/orders/{order_id}/deliveries")).json()["deliveries"]
    return bool(deliveries) and {delivery["state"] for delivery in deliveries} == {"delivered"}


async def test_on_a_full_disk_orders_are_refused_and_nothing_acknowledged_is_lost(
    settings_there: Settings, disk: SmallDisk
) -> None:
    with Receiver() as receiver:
        async with opened(settings_there) as shop:
            before = (await keyed(shop, "before", LARGEST, receiver.url)).json()["order"]["id"]
            filling = asyncio.create_task(asyncio.to_thread(disk.fill))
            acknowledged, refused = await orders_until_full(shop, receiver.url)
            await filling
            assert error_of(refused)["code"] == "store_unavailable"
            assert "Retry-After" in refused.headers
            # ten calls of one new key, in flight at once, while the database's own work meets the full disk too
            duplicates = await asyncio.gather(*(keyed(shop, "duplicate", FREE, receiver.url) for _ in range(10)))
            assert {response.status_code for response in duplicates} <= {201, 503}
            assert set(acknowledged.values()) <= set(await all_orders(shop))  # reading goes on
            assert (await shop.app.search({})).status_code == 200

            disk.make_room()
            again = [await keyed(shop, "duplicate", FREE, receiver.url) for _ in range(3)]
            assert [response.status_code for response in again] == [201] * 3
            placed = [response for response in [*again, *duplicates] if response.status_code == 201]
            assert len({response.json()["order"]["id"] for response in placed}) == 1
            states = await all_orders(shop)
            bound = [
                order_id
                for order_id, state in states.items()
                if state == "created" and order_id in acknowledged.values()
            ]
            assert [(await cancel(shop, order_id)).status_code for order_id in bound] == [200] * len(bound)
            for key, order_id in acknowledged.items():
                response = await keyed(shop, key, KNIFE, receiver.url)
                assert (response.status_code, response.json()["order"]["id"]) == (201, order_id)
            # no order came of a call that was refused
            assert set(states) == {before, *acknowledged.values(), again[0].json()["order"]["id"]}
            for order_id in states:
                await until(partial(delivered, shop, order_id), otherwise=f"{order_id} was not told")
    assert {identifier.rpartition("_")[0] for identifier in receiver.ids} == {
        "msg_" + identifier.removeprefix("ord_") for identifier in states
    }
