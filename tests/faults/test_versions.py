"""A version beside an earlier one, as while hosts are upgraded one by one: on one database and one index, and on one
database across a migration, where each has an index of its own with the same items.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.support.api.catalogue import simple_item
from tests.support.api.waiting import until
from tests.support.faults.versions import ROOT, Version, before_migration, earlier_version, first_of_definition
from tests.support.store.postgres import Postgres

ITEMS: Final = range(1, 31)
CONTESTED: Final = range(1, 13)
PLATFORM: Final = ("--platform", "730")
MOVED: Final = ("--max-price-change", "100")
"""Percent: what a load may move without asking."""


@pytest.fixture
async def variables(postgres: Postgres, opensearch_url: str) -> dict[str, str]:
    """The settings of both versions."""
    return {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_DATABASE_URL": await postgres.new_database("versions"),
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_DRAIN_SECONDS": "0",
    }


def token_of(version: Version) -> str:
    """A token that this version makes."""
    output = version.run(
        "api",
        "token",
        "create",
        "--name",
        "shop",
        "--scope",
        "search",
        "--scope",
        "order",
        "--scope",
        "fulfil",
        "--json",
    )
    return str(json.loads(output)["token"])


@asynccontextmanager
async def shops(addresses: Sequence[str], texts: Sequence[str]) -> AsyncIterator[list[httpx.AsyncClient]]:
    """A client of each version with each token."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {text}"}, timeout=60)
            )
            for address in addresses
            for text in texts
        ]


async def offered_by_all(clients: Sequence[httpx.AsyncClient], prices: dict[int, float]) -> None:
    """Waits until every client is offered exactly these items at these prices."""

    for client in clients:

        async def is_offered(client: httpx.AsyncClient = client) -> bool:
            response = await client.post("/v1/gear/search", json={"limit": 100, "sort": "price_asc"})
            assert response.status_code == 200, response.text
            return {item["id"]: item["price"] for item in response.json()["gear"]} == prices

        await until(is_offered, 30)


async def found_by_all(clients: Sequence[httpx.AsyncClient], prices: dict[int, float]) -> None:
    """Every client finds these items by a text."""
    for client in clients:
        response = await client.post("/v1/gear/search", json={"query": "redline", "limit": 100})
        assert response.status_code == 200, response.text
        assert {item["id"] for item in response.json()["gear"]} == prices.keys()


async def counted_alike(clients: Sequence[httpx.AsyncClient]) -> None:
    """Every client gets the same facets of the index, whichever version loaded it."""
    body = {"facets": ["type", "weapon", "price", "float"]}
    responses = [(await client.post("/v1/gear/search", json=body)).json() for client in clients]
    assert responses[0]["facets"]["price"]["buckets"]
    assert all(response["facets"] == responses[0]["facets"] for response in responses), responses


async def contested(clients: Sequence[httpx.AsyncClient], item: int) -> tuple[httpx.AsyncClient, dict[str, Any]]:
    """Every client orders the item at once, and one gets it: the order, and a client of the other version."""
    body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(item)}

    async def order(number: int, client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/v1/gear", json=body, headers={"Idempotency-Key": f"{item} {number}"})

    responses = await asyncio.gather(*(order(number, client) for number, client in enumerate(clients)))
    assert sorted(response.status_code for response in responses) == [201, *[409] * (len(clients) - 1)]
    (number,) = [number for number, response in enumerate(responses) if response.status_code == 201]
    other = clients[(number + 2) % len(clients)]  # the other version, the same token
    again = await order(number, other)
    assert (again.status_code, again.json()["order"]["id"]) == (201, responses[number].json()["order"]["id"])
    return other, again.json()["order"]


async def complete_all(sold: Sequence[tuple[httpx.AsyncClient, dict[str, Any]]]) -> None:
    """Each order is moved on by the version that did not take it."""
    for client, order in sold:
        for state in ("processing", "delivered", "completed"):
            moved = await client.post(f"/v1/orders/{order['id']}/transitions", json={"to": state})
            assert moved.status_code == 200, moved.text
        read = await client.get(f"/v1/orders/{order['id']}")
        assert (read.status_code, read.json()["order"]["state"]) == (200, "completed"), read.text


def file_of(folder: Path, prices: dict[int, float]) -> str:
    """A file of items with these prices."""
    file = folder / "items.ndjson"
    file.write_text("".join(json.dumps(simple_item(*item)) + "\n" for item in prices.items()), encoding="utf-8")
    return str(file)


@pytest.mark.timeout(500)  # two processes start
async def test_a_version_and_the_first_of_its_definition_serve_one_shop(
    variables: dict[str, str], index_prefix: str, tmp_path: Path
) -> None:
    source = earlier_version(first_of_definition, tmp_path / "before")
    before, now = (Version(each, {**variables, "GEAR_INDEX_PREFIX": index_prefix}) for each in (source, ROOT))
    prices = dict.fromkeys(ITEMS, 1.0)
    before.run("api", "migrate")
    before.run("indexer", "load", file_of(tmp_path, prices), *PLATFORM)
    texts = [token_of(before)]
    async with before.serving(tmp_path / "before.log") as old:
        now.run("api", "migrate")
        texts.append(token_of(now))
        async with now.serving(tmp_path / "now.log") as new, shops((old, new), texts) as clients:
            await offered_by_all(clients, prices)
            for version, changed in ((now, {29: 2.0}), (before, {30: 3.0})):
                version.run("indexer", "upsert", file_of(tmp_path, changed), *PLATFORM)
                prices |= changed
                await offered_by_all(clients, prices)
                await counted_alike(clients)
            await complete_all([await contested(clients, item) for item in CONTESTED])
            for item in CONTESTED:
                del prices[item]
            await offered_by_all(clients, prices)
            for version, price in ((now, 4.0), (before, 5.0)):
                version.run("indexer", "load", file_of(tmp_path, dict.fromkeys(ITEMS, price)), *PLATFORM, *MOVED)
                prices = dict.fromkeys(prices, price)
                await offered_by_all(clients, prices)
                await found_by_all(clients, prices)


@pytest.mark.timeout(500)  # two processes start
async def test_versions_before_and_after_a_migration_take_orders_of_one_shop(
    variables: dict[str, str], index_prefix: str, tmp_path: Path
) -> None:
    source = earlier_version(before_migration, tmp_path / "before")
    texts: list[str] = []
    async with AsyncExitStack() as stack:
        addresses: list[str] = []
        for number, each in enumerate((source, ROOT)):  # the newer one while the other serves
            version = Version(each, {**variables, "GEAR_INDEX_PREFIX": f"{index_prefix}-{number}"})
            version.run("api", "migrate")
            version.run("indexer", "load", file_of(tmp_path, dict.fromkeys(CONTESTED, 1.0)), *PLATFORM)
            texts.append(token_of(version))
            addresses.append(await stack.enter_async_context(version.serving(tmp_path / f"{number}.log")))
        clients = await stack.enter_async_context(shops(addresses, texts))
        await complete_all([await contested(clients, item) for item in CONTESTED])
