"""The example that follows a PostgreSQL database by logical decoding runs as it stands, and is killed on the way."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from opensearchpy import OpenSearch

from tests.support.clients import EXAMPLES
from tests.support.store.postgres import logical_postgres

REDLINE, SLATE = "AK-47 | Redline (Field-Tested)", "AK-47 | Slate (Field-Tested)"
FOREIGN_ITEM = {"id": 99, "name": "AWP | Asiimov (Field-Tested)", "price": 9.0}
Offers = dict[int, tuple[str, float]]
SHOP = (
    "CREATE TABLE products (id int PRIMARY KEY, name text, weapon text, exterior text)",
    "CREATE TABLE listings (id int PRIMARY KEY, product_id int, price_cents int, wear float8, sold_at text)",
    f"INSERT INTO products VALUES (1, '{REDLINE}', 'AK-47', 'Field-Tested')",
    "CREATE PUBLICATION gear FOR TABLE listings, products",
    "SELECT pg_create_logical_replication_slot('gear', 'pgoutput')",
)
CHANGES: tuple[tuple[tuple[str, ...], Offers], ...] = (
    (
        ("INSERT INTO listings SELECT number, 1, 100 * number, 0.2 FROM generate_series(1, 4) number",),
        {number: (REDLINE, float(number)) for number in range(1, 5)},
    ),
    (
        (
            "UPDATE listings SET price_cents = 150 WHERE id = 1",
            "DELETE FROM listings WHERE id = 2",
            "UPDATE listings SET sold_at = 'now' WHERE id = 3",
            "UPDATE listings SET id = 6 WHERE id = 4",
        ),
        {1: (REDLINE, 1.5), 6: (REDLINE, 4.0)},
    ),
    ((f"UPDATE products SET name = '{SLATE}'",), {1: (SLATE, 1.5), 6: (SLATE, 4.0)}),
)
"""Statements, and what is listed after them."""


@asynccontextmanager
async def running(environment: dict[str, str], *command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with a group of its own, which is killed."""
    process = await asyncio.create_subprocess_exec(*command, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def until_listed(url: str, index: str, expected: Offers) -> None:
    """Waits until the index has these listings beside the stranger."""
    limit = monotonic() + 60
    with OpenSearch(url) as client:
        while True:
            hits = client.search(index=index)["hits"]["hits"]
            items = [hit["_source"] for hit in hits if hit["_source"]["id"] != FOREIGN_ITEM["id"]]
            listed = {item["id"]: (item["name"], item["price"] / 100) for item in items}
            if listed == expected:
                return
            assert monotonic() < limit, listed
            await asyncio.sleep(0.1)


async def test_what_changes_in_a_shops_postgres_is_listed_also_over_deaths(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": index_prefix,
        "GEAR_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path / 'orders.db'}",
    }
    file = tmp_path / "items.ndjson"
    file.write_text(json.dumps(FOREIGN_ITEM))
    async with running(environment, "gear-indexer", "load", str(file), "--platform", "730", "--without-orders") as load:
        assert await load.wait() == 0
    with logical_postgres() as server:
        address = (await server.new_database("shop")).replace("+asyncpg", "")
        await server.execute(*SHOP, database="shop")
        follow = (sys.executable, str(EXAMPLES / "follow_postgres.py"), address, "--platform", "730")
        expected: Offers = {}
        for statements, after in CHANGES:
            async with running(environment, *follow):
                await until_listed(opensearch_url, f"{index_prefix}-730", expected)
                await server.execute(*statements, database="shop")  # read by this process, or by the next
            expected = after
        async with running(environment, *follow):
            await until_listed(opensearch_url, f"{index_prefix}-730", expected)
