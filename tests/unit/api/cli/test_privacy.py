"""`gear-api forget`: whose data go is said exactly, what waits is named, and what cannot be told is refused."""

import asyncio
import json
import resource
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click import ClickException
from click.testing import CliRunner, Result

from api.cli.main import main
from api.cli.privacy import _keep
from store.auth import tokens
from store.connection.engine import Store
from store.orders import orders
from tests.support.store.migrated import migrated
from tests.support.store.new_order import new_order


async def fill(url: str) -> dict[str, str]:
    """Two tokens; the first has an active and a failed order of the account, the second an active one."""
    await migrated(url)
    store = Store(url)
    now = datetime.now(UTC)
    ids = {}
    async with store.transaction() as connection:
        for item, name in enumerate(("shop", "shop", "other")):
            if name not in ids:
                ids[name] = (await tokens.create(connection, name, ["order"], False, None, now)).token.id
            order = await orders.place(connection, new_order(ids[name], item), now)
            ids[f"order {item}"] = order.id
        await orders.move(connection, ids["order 1"], ["created"], "failed", None, now)
    await store.close()
    return ids


@pytest.fixture
def filled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """The ids in a filled SQLite file, which the settings name."""
    url = f"sqlite:///{tmp_path}/gear.db"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    return asyncio.run(fill(url))


def forget(*arguments: str, **more: Any) -> Result:
    return CliRunner().invoke(main, ["forget", *arguments], **more)


def test_whose_account_is_meant_is_never_guessed(filled: dict[str, str]) -> None:
    result = forget("client-17")
    assert result.exit_code == 1
    for name in ("shop", "other"):
        assert f"{name} ({filled[name]})" in result.stderr
    assert forget("client-17", "--token", "nobody").exit_code == 1
    assert forget("client-17", "--token", "shop", "--every-token").exit_code == 2
    assert forget("client-18").exit_code == 1
    # the account of every order that is erased already
    assert "the account is empty" in forget("-", "--every-token", input="\n").stderr


@pytest.mark.parametrize("by", ["name", "id"])
def test_ended_orders_are_erased_and_active_ones_named(filled: dict[str, str], by: str) -> None:
    done = forget("client-17", "--token", "shop" if by == "name" else filled["shop"], "--json")
    assert done.exit_code == 0, done.output
    waiting = [{"id": filled["order 0"], "state": "created"}]
    assert json.loads(done.stdout) == {"erased": [filled["order 1"]], "waiting": waiting}
    assert f"{filled['order 0']} is created" in done.stderr


def test_the_account_may_come_from_stdin_and_be_of_every_token(filled: dict[str, str]) -> None:
    done = forget("-", "--every-token", "--json", input="client-17\n")
    assert {order["id"] for order in json.loads(done.stdout)["waiting"]} == {filled["order 0"], filled["order 2"]}
    again = forget("client-17", "--every-token", "--json")
    assert json.loads(again.stdout)["erased"] == []


def test_the_ids_are_preserved_and_erased_again_after_a_restore(filled: dict[str, str], tmp_path: Path) -> None:
    backup = shutil.copy(tmp_path / "gear.db", tmp_path / "backup.db")
    assert forget("client-17", "--token", "shop").exit_code == 0
    file = tmp_path / "gear.db.forgotten"
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(file.read_text().split()) == sorted([filled["order 0"], filled["order 1"]])
    shutil.copy(backup, tmp_path / "gear.db")
    again = forget("--again", str(file), "--json")
    assert again.exit_code == 0, again.output
    waiting = [{"id": filled["order 0"], "state": "created"}]
    assert json.loads(again.stdout) == {"erased": [filled["order 1"]], "waiting": waiting}
    assert forget("--again", "-", "--json", input=f"{filled['order 1']}\n\n").exit_code == 0


def test_nothing_is_erased_whose_ids_cannot_be_stored(filled: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_ERASURE_LOG", "/nowhere/forgotten")
    result = forget("client-17", "--token", "shop")
    assert result.exit_code == 1
    assert "cannot be kept in /nowhere/forgotten (No such file or directory)" in result.stderr
    monkeypatch.delenv("GEAR_ERASURE_LOG")
    assert json.loads(forget("client-17", "--token", "shop", "--json").stdout)["erased"] == [filled["order 1"]]


def test_ids_for_which_the_disk_has_no_room_are_not_taken_for_stored(tmp_path: Path) -> None:
    file = tmp_path / "forgotten"
    _, hard = limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))  # a write is cut there, as on a disk that is full
    try:
        with pytest.raises(ClickException, match="cannot be kept"):
            _keep(["ord_first", "ord_second"], file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    _keep(["ord_third"], file)
    assert file.read_text().split()[-1] == "ord_third", "and not joined to what was cut"


@pytest.mark.parametrize("arguments", [(), ("client-17", "--again", "-"), ("--again", "-", "--every-token")])
def test_an_account_or_a_file_is_named(filled: dict[str, str], arguments: tuple[str, ...]) -> None:
    result = forget(*arguments)
    assert result.exit_code == 2
    assert "name an account, or a file with --again and nothing else" in result.stderr
