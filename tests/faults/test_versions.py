"""A version beside the one before it, on one database, as while hosts are upgraded one by one.

Each has an index of its own with the same items: neither definition reads the other's.
"""

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
from tests.support.faults.versions import ROOT, Version, version_before
from tests.support.store.postgres import Postgres

CONTESTED: Final = range(1, 13)


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
        "GEAR_DATABASE_URL": await postgres.new_database("versions"),
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_DRAIN_SECONDS": "0",
    }
    return [
        Version(source, {**variables, "GEAR_INDEX_PREFIX": f"{index_prefix}-a"}),
        Version(ROOT, {**variables, "GEAR_INDEX_PREFIX": f"{index_prefix}-b"}),
    ]


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


@pytest.mark.timeout(500)  # two processes start
async def test_a_version_and_the_one_before_take_orders_of_one_shop(versions: list[Version], tmp_path: Path) -> None:
    file = tmp_path / "items.ndjson"
    file.write_text("".join(json.dumps(simple_item(item, 1.0)) + "\n" for item in CONTESTED), encoding="utf-8")
    texts: list[str] = []
    async with AsyncExitStack() as stack:
        addresses: list[str] = []
        for number, version in enumerate(versions):  # the newer one while the other serves
            version.run("api", "migrate")
            version.run("indexer", "load", str(file), "--platform", "730")
            texts.append(token_of(version))
            addresses.append(await stack.enter_async_context(version.serving(tmp_path / f"{number}.log")))
        clients = await stack.enter_async_context(shops(addresses, texts))
        await seen_through([await contested(clients, item) for item in CONTESTED])
