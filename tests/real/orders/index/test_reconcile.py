"""After a restore: what the index binds is neither offered nor sold until somebody has decided about it."""

import asyncio
import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from api.cli.main import main as gear_api
from api.settings import Settings
from indexer.cli.main import main as gear_indexer
from store import audit
from store.bound_items import bound_among, bound_items
from store.connection.engine import Store
from store.connection.errors import ItemTaken
from store.orders import holds, orders
from store.records import Actor
from store.schema import index_outbox
from tests.support.api.envelope import error_of
from tests.support.orders.desk import Desk
from tests.support.orders.shop import FREE, KNIFE, opened
from tests.support.store.new_order import new_order

ANN = Actor.command("ann@shop")


@pytest.fixture
def environment(sqlite_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands work on the shop's index and database."""
    for name in ("opensearch_url", "index_prefix", "database_url"):
        monkeypatch.setenv(f"GEAR_{name.upper()}", getattr(sqlite_settings, name))


async def reconcile(*options: str, code: int = 0) -> dict[str, Any]:
    result = await asyncio.to_thread(CliRunner().invoke, gear_api, ["reconcile", *options, "--json"])
    assert result.exit_code == code, result.output
    shown: dict[str, Any] = json.loads(result.stdout)
    return shown


def backed_up(file: Path, to: Path) -> None:
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)


@pytest.mark.usefixtures("environment")
async def test_what_a_restored_database_has_lost_is_not_sold_again(sqlite_settings: Settings, tmp_path: Path) -> None:
    file, backup = Path(sqlite_settings.database_url.partition("///")[2]), tmp_path / "backup.db"
    async with opened(sqlite_settings) as shop:
        backed_up(file, backup)
        await shop.placed(KNIFE)
        await shop.until_hidden(KNIFE)
    for left in file.parent.glob(f"{file.name}*"):
        left.unlink()
    shutil.copyfile(backup, file)
    async with opened(sqlite_settings) as shop:
        await asyncio.to_thread(CliRunner().invoke, gear_indexer, ["doctor", "--platform", "730", "--fix"])
        assert error_of(await shop.order(KNIFE))["code"] == "item_unavailable"
        assert 'gear_order_refused_items_total{reason="unknown"} 1.0' in (await shop.get("/metrics")).text
        assert KNIFE not in await shop.offered()
        assert (await shop.order(FREE)).status_code == 201, "other items are ordered as ever"

        assert (await reconcile(code=1))["undecided"] == [KNIFE]
        report = await reconcile("--keep-all")
        assert (report["kept"], report["undecided"], list(report["held"])) == ([KNIFE], [], [str(KNIFE)])
        assert error_of(await shop.order(KNIFE))["code"] == "item_unavailable"
        assert KNIFE not in await shop.offered()

        released = await reconcile("--release", str(KNIFE))
        assert (released["released"], released["held"]) == ([KNIFE], {})
        await shop.until_offered(KNIFE)
        assert (await shop.order(KNIFE)).status_code == 201
        async with shop.store.reading() as connection:
            entries = await audit.entries(connection, datetime(2020, 1, 1, tzinfo=UTC), None, 100)
        decisions = [(entry.action, entry.subject) for entry in entries if entry.action.startswith("item.")]
        assert decisions == [("item.keep", str(KNIFE)), ("item.release", str(KNIFE))]


@pytest.mark.usefixtures("environment")
async def test_keep_binds_an_item_that_only_other_records_know(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        assert (await reconcile("--keep", str(KNIFE)))["kept"] == [KNIFE]
        await shop.until_hidden(KNIFE)
        assert error_of(await shop.order(KNIFE))["code"] == "item_unavailable"


@pytest.mark.usefixtures("environment")
async def test_a_release_that_waits_for_the_index_is_not_undecided(sqlite_settings: Settings) -> None:
    async with opened(sqlite_settings) as shop:
        placed = await shop.placed(KNIFE)
        await shop.until_hidden(KNIFE)
    store = Store(sqlite_settings.database_url)  # with no process that syncs the index
    try:
        async with store.transaction() as connection:
            long_ago = datetime.now(UTC) - timedelta(minutes=10)
            assert await orders.move(connection, placed["id"], ["created"], "cancelled", None, long_ago)
            await connection.execute(update(index_outbox).values(updated_at=long_ago))
    finally:
        await store.close()
    assert (await reconcile())["undecided"] == []
    async with opened(sqlite_settings) as shop:
        await shop.until_offered(KNIFE)
    assert (await reconcile())["undecided"] == []


async def test_what_is_held_is_bound_and_what_is_ordered_needs_no_hold(desk: Desk) -> None:
    order = await desk.place(None)
    free, now = 10**9, datetime.now(UTC)
    async with desk.store.transaction() as connection:
        assert await holds.keep(connection, 730, [order.item, free], ANN, now) == [free]
        assert await holds.keep(connection, 730, [free], ANN, now) == []
    async with desk.store.reading() as connection:
        assert await bound_among(connection, 730, [order.item, free, 7]) == {order.item, free}
        assert await bound_items(connection, 730, None, 10) == [order.item, free]
        assert await bound_items(connection, 730, None, 1) == [order.item]
        assert await bound_items(connection, 730, order.item, 10) == [free]
        assert await bound_among(connection, 440, [free]) == set()
    async with desk.store.transaction() as connection:
        assert await holds.release(connection, 730, [order.item, free], ANN, now) == [free]
    async with desk.store.reading() as connection:
        assert await bound_items(connection, 730, None, 10) == [order.item]


async def test_of_a_hold_and_orders_at_once_one_wins(desk: Desk) -> None:
    async def order(item: int) -> bool:
        try:
            async with desk.store.transaction() as connection:
                await orders.place(connection, new_order(desk.token.token.id, item), datetime.now(UTC))
        except ItemTaken:
            return False
        return True

    async def hold(item: int) -> bool:
        async with desk.store.transaction() as connection:
            return bool(await holds.keep(connection, 730, [item], ANN, datetime.now(UTC)))

    items = range(10**9, 10**9 + 20)
    won = await asyncio.gather(*(work(item) for item in items for work in (order, hold)))
    pairs = list(zip(won[::2], won[1::2], strict=True))
    assert all(ordered != on_hold for ordered, on_hold in pairs), pairs
    async with desk.store.reading() as connection:
        assert len(await bound_items(connection, 730, None, 100)) == len(pairs)
