"""The examples of `docs/examples/shop` run as they stand."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest
from gear_client import GearClient
from opensearchpy import OpenSearch

from tests.support.api.waiting import wait_until
from tests.support.clients import EXAMPLES, PYTHON_CLIENT, Service, order_until_completed
from tests.support.servers import free_port


@contextmanager
def receiving(service: Service, database: Path) -> Iterator[str]:
    """The receiver as a process; its address."""
    port = free_port()
    command = [sys.executable, str(EXAMPLES / "receiver.py"), str(port), str(database)]
    environment = {**service.environment, "PYTHONPATH": str(PYTHON_CLIENT)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        assert "listening" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}/hooks"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("service", [{"allow_insecure_callbacks": True}], indirect=True)
def test_the_receiver_keeps_each_event_once(service: Service, tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with receiving(service, database) as address:
        with GearClient(service.url, service.token) as gear:
            order = order_until_completed(gear, address)
        with closing(sqlite3.connect(database)) as events:
            rows = events.execute("SELECT type, about FROM events ORDER BY rowid").fetchall()
        states = ("created", "processing", "delivered", "completed")
        assert rows == [(f"order.{state}", order) for state in states]
        assert httpx.post(address, content=b"{}").status_code == 401
        assert httpx.post(address, content=b" " * (2 << 20)).status_code == 413


@pytest.mark.parametrize("service", [{"allow_insecure_callbacks": True}], indirect=True)
def test_the_receiver_takes_what_a_saved_search_tells(service: Service, tmp_path: Path) -> None:
    database = tmp_path / "events.db"
    with receiving(service, database) as address:
        with GearClient(service.url, service.token) as gear:
            search = gear.save_search(name="mine", callbackUrl=address, query="asiimov")["search"]["id"]
        with GearClient(service.url, service.writer) as gear:
            gear.put_items(730, [{"id": 1, "name": "AWP | Asiimov (Field-Tested)", "price": 10.0}])

        def events() -> list[tuple[str, str]]:
            with closing(sqlite3.connect(database)) as connection:
                return connection.execute("SELECT type, about FROM events").fetchall()

        wait_until(lambda: bool(events()))
        assert events() == [("search.matched", search)]


def test_the_feed_reader_keeps_a_copy_over_its_death(service: Service, tmp_path: Path) -> None:
    database = tmp_path / "copy.db"
    command = [sys.executable, str(EXAMPLES / "feed_reader.py"), str(database), "730", "asiimov"]
    environment = {**service.environment, "PYTHONPATH": str(PYTHON_CLIENT)}

    def items() -> dict[int, float]:
        try:
            with closing(sqlite3.connect(database)) as copy:
                return {key: json.loads(item)["price"] for key, item in copy.execute("SELECT id, item FROM items")}
        except sqlite3.OperationalError:  # not made yet
            return {}

    def copied(expected: dict[int, float]) -> None:
        wait_until(lambda: items() == expected)

    def item(number: int, price: float) -> dict[str, object]:
        return {"id": number, "name": "AWP | Asiimov (Field-Tested)", "price": price}

    with GearClient(service.url, service.writer) as gear:
        gear.put_items(730, [item(1, 10.0), item(2, 20.0)], visible=True)
        for changed, deleted, expected in (
            ([item(3, 30.0)], [1], {2: 20.0, 3: 30.0}),
            ([item(2, 21.0)], [3], {2: 21.0}),
        ):
            process = subprocess.Popen(command, env=environment)
            try:
                gear.put_items(730, changed)
                gear.delete_items(730, ids=deleted)
                copied(expected)
            finally:
                process.kill()
                process.wait()
            gear.put_items(730, [item(4, 40.0)])  # while nobody reads
            gear.delete_items(730, ids=[4])


def test_a_shops_database_is_loaded(opensearch_url: str, index_prefix: str, tmp_path: Path) -> None:
    database = tmp_path / "shop.db"
    with closing(sqlite3.connect(database)) as shop, shop:
        shop.executescript(
            """
            CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, weapon TEXT, exterior TEXT);
            CREATE TABLE listings (id INTEGER PRIMARY KEY, product_id INT, price_cents INT, wear REAL, sold_at TEXT);
            INSERT INTO products VALUES (1, 'AK-47 | Redline (Field-Tested)', 'AK-47', 'Field-Tested');
            INSERT INTO listings VALUES (7, 1, 2140, 0.18, NULL), (8, 1, 2000, 0.2, '2026-01-01');
            """
        )
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GEAR_OPENSEARCH_URL": opensearch_url,
        "GEAR_INDEX_PREFIX": index_prefix,
    }
    script = str(EXAMPLES / "load_from_database.py")
    command = [sys.executable, script, f"sqlite:///{database}", "--platform", "730", "--without-orders"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 0, ran.stderr
    with OpenSearch(opensearch_url) as client:
        (hit,) = client.search(index=f"{index_prefix}-730")["hits"]["hits"]
    assert (hit["_source"]["id"], hit["_source"]["price"]) == (7, 2140)
