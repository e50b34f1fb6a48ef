"""A version beside the one before it, on one database and one index, as while hosts are upgraded one by one."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.support.api.catalogue import simple_item
from tests.support.api.waiting import until
from tests.support.faults.versions import ROOT, Version, version_before
from tests.support.store.postgres import Postgres

ITEMS: Final = range(1, 31)
CONTESTED: Final = range(1, 13)
PLATFORM: Final = ("--platform", "730")
MOVED: Final = ("--max-price-change", "100")
"""Percent: what a load may move without asking."""


@pytest.fixture
async def versions(postgres: Postgres, opensearch_url: str, index_prefix: str, tmp_path: Path) -> list[Version]:
    """The version before and this one."""
    try:
        source = version_before(tmp_path / "before")
    except (FileNotFoundError, subprocess.CalledProcessError):
        source = None
    if source is None:
        pytest.skip("this checkout has no history, so the version before cannot be built")
    variables = {
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": index_prefix,
        "GEAR_DATABASE_URL": await postgres.new_database("versions"),
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_DRAIN_SECONDS": "0",
    }
    return [Version(source, variables), Version(ROOT, variables)]


def token_of(version: Version) -> str:
    """A token that this version makes."""
    made = version.run(
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
    return str(json.loads(made)["token"])


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
            answer = await client.post("/v1/gear/search", json={"limit": 100, "sort": "price_asc"})
            assert answer.status_code == 200, answer.text
            return {item["id"]: item["price"] for item in answer.json()["gear"]} == prices

        await until(is_offered, 30)


async def found_by_all(clients: Sequence[httpx.AsyncClient], prices: dict[int, float]) -> None:
    """Every client finds these items by a text."""
    for client in clients:
        answer = await client.post("/v1/gear/search", json={"query": "redline", "limit": 100})
        assert answer.status_code == 200, answer.text
        assert {item["id"] for item in answer.json()["gear"]} == prices.keys()


async def counted_alike(clients: Sequence[httpx.AsyncClient]) -> None:
    """Every client gets the same facets of the index, whichever version loaded it."""
    body = {"facets": ["type", "weapon", "price", "float"]}
    answers = [(await client.post("/v1/gear/search", json=body)).json() for client in clients]
    assert answers[0]["facets"]["price"]["buckets"]
    assert all(answer["facets"] == answers[0]["facets"] for answer in answers), answers


async def contested(clients: Sequence[httpx.AsyncClient], item: int) -> tuple[httpx.AsyncClient, dict[str, Any]]:
    """Every client orders the item at once, and one gets it: the order, and a client of the other version."""
    body = {"account": "a", "email": "buyer@example.com", "platform": "cs2", "item": str(item)}

    async def order(number: int, client: httpx.AsyncClient) -> httpx.Response:
        return await client.post("/v1/gear", json=body, headers={"Idempotency-Key": f"{item} {number}"})

    answers = await asyncio.gather(*(order(number, client) for number, client in enumerate(clients)))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * (len(clients) - 1)]
    (number,) = [number for number, answer in enumerate(answers) if answer.status_code == 201]
    other = clients[(number + 2) % len(clients)]  # the other version, the same token
    again = await order(number, other)
    assert (again.status_code, again.json()["order"]["id"]) == (201, answers[number].json()["order"]["id"])
    return other, again.json()["order"]


async def seen_through(sold: Sequence[tuple[httpx.AsyncClient, dict[str, Any]]]) -> None:
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


@pytest.mark.timeout(500)  # four processes start
async def test_a_version_and_the_one_before_serve_one_shop(versions: list[Version], tmp_path: Path) -> None:
    before, now = versions
    prices = dict.fromkeys(ITEMS, 1.0)
    before.run("api", "migrate")
    before.run("indexer", "load", file_of(tmp_path, prices), *PLATFORM)
    texts = [token_of(before)]
    async with before.serving(tmp_path / "before.log") as old:
        now.run("api", "migrate")
        texts.append(token_of(now))
        async with now.serving(tmp_path / "now.log") as new, shops((old, new), texts) as clients:
            await offered_by_all(clients, prices)
            await found_by_all(clients, prices)
            for version, changed in ((now, {29: 2.0}), (before, {30: 3.0})):
                version.run("indexer", "upsert", file_of(tmp_path, changed), *PLATFORM)
                prices |= changed
                await offered_by_all(clients, prices)
                await counted_alike(clients)
            sold = [await contested(clients, item) for item in CONTESTED]
            await seen_through(sold)
            for item in CONTESTED:
                del prices[item]
            await offered_by_all(clients, prices)
    # the version before cannot read an index of products: all processes are replaced, then the catalogue is loaded
    loaded = dict.fromkeys(prices, 4.0)
    async with now.serving(tmp_path / "after.log") as new, shops((new,), texts) as clients:
        for version in (now, before):
            version.run("indexer", "load", file_of(tmp_path, dict.fromkeys(ITEMS, 4.0)), *PLATFORM, *MOVED)
            if version is before:  # it moves and removes listings alone
                now.repair()
            await offered_by_all(clients, loaded)
            await found_by_all(clients, loaded)
