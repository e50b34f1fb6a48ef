"""`gear-api orders` and the quotas of `gear-api token`, on a real SQLite file."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from store.connection.engine import Store
from store.orders import orders
from tests.support.store.migrated import migrated
from tests.support.store.new_order import new_order


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The address of a migrated SQLite file that the commands use."""
    url = f"sqlite:///{tmp_path}/gear.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    return asyncio.run(migrated(url))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def shown(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def place(url: str, token_id: str, number: int) -> None:
    async def all_of_them() -> None:
        store = Store(url)
        try:
            async with store.transaction() as connection:
                for item in range(1, number + 1):
                    await orders.place(connection, new_order(token_id, item), datetime.now(UTC))
        finally:
            await store.close()

    asyncio.run(all_of_them())


def test_orders_are_counted_first_and_cancelled_on_yes(database: str) -> None:
    token_id = shown("token", "create", "--name", "shop", "--scope", "order")["id"]
    place(database, token_id, 101)  # more than a batch
    counted = shown("orders", "cancel", "--token", "shop", "--state", "created")
    assert counted == {"cancelled": 0, "matching": 101, "dryRun": True}
    assert shown("orders", "cancel", "--token", "shop", "--account", "nobody", "--yes")["cancelled"] == 0
    cancelled = shown("orders", "cancel", "--token", token_id, "--yes")
    assert cancelled == {"cancelled": 101, "matching": 101, "dryRun": False}
    assert shown("orders", "cancel", "--token", "shop")["matching"] == 0


def test_an_unknown_token_is_refused(database: str) -> None:
    result = run("orders", "cancel", "--token", "nobody", "--yes")
    assert result.exit_code == 1
    assert "'nobody' must name one token" in result.stderr


def test_a_token_has_quotas_from_the_beginning_and_gets_others(database: str) -> None:
    created = shown("token", "create", "--name", "shop", "--scope", "order")
    assert (created["maxActive"], created["maxActivePerAccount"]) == (1000, None)
    more = shown(
        "token", "create", "--name", "b", "--scope", "order", "--max-active", "5", "--max-active-per-account=2"
    )
    assert (more["maxActive"], more["maxActivePerAccount"]) == (5, 2)
    changed = shown("token", "limit", "shop", "--max-active", "7", "--max-active-per-account", "3")
    assert changed == {"id": created["id"], "maxActive": 7, "maxActivePerAccount": 3, "rateLimit": None}
    listed = {token["name"]: (token["maxActive"], token["maxActivePerAccount"]) for token in shown("token", "list")}
    assert listed == {"shop": (7, 3), "b": (5, 2)}
    assert run("token", "limit", "nobody").exit_code == 1
    assert run("token", "limit", "shop", "--max-active", "0").exit_code == 2
