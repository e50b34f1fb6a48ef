"""`gear-api audit`: every command that changes something leaves an entry, with its user and without a secret."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli.context import run_now
from api.cli.encryption import encrypt_anew
from api.cli.main import main
from store import migrate
from tests.support.store.migrated import migrated


@pytest.fixture(autouse=True)
def _database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/gear.db")
    monkeypatch.setattr("getpass.getuser", lambda: "ann")
    asyncio.run(migrated(f"sqlite:///{tmp_path}/gear.db"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def entries(*options: str) -> list[dict[str, Any]]:
    result = run("audit", "--since", "1h", "--json", *options)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_commands_are_recorded_with_their_user_in_order() -> None:
    created = run("token", "create", "--name", "shop", "--scope", "order", "--json")
    token = json.loads(created.stdout)
    for command in (
        ("token", "limit", "shop", "--max-active", "7"),
        ("webhook", "rotate", "shop"),
        ("webhook", "recover", "--token", "shop", "--since", "1h"),
        ("token", "revoke", "shop"),
    ):
        assert run(*command).exit_code == 0
    recorded = entries()
    assert [entry["action"] for entry in recorded] == [
        "token.create",
        "token.limit",
        "webhook.rotate",
        "webhook.recover",
        "token.revoke",
    ]
    assert {entry["actor"] for entry in recorded} == {"command"}
    assert {entry["actorName"].split("@")[0] for entry in recorded} == {"ann"}
    assert {entry["subject"] for entry in recorded} == {token["id"]}
    assert recorded[0]["details"]["scopes"] == ["order"]
    assert recorded[1]["details"]["maxActive"] == 7
    assert token["token"] not in json.dumps(recorded)
    assert token["webhookSecret"] not in json.dumps(recorded)


def test_a_migration_is_recorded_where_it_changed_something(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/new.db")
    for _ in range(2):
        assert run("migrate").exit_code == 0
    (entry,) = (json.loads(line) for line in run("audit", "--since", "1h", "--json").stdout.splitlines())
    assert (entry["action"], entry["subject"], entry["details"]) == ("database.migrate", migrate.head(), {"from": None})
    assert entry["actorName"].startswith("ann@")


def test_a_rotation_of_keys_is_recorded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert run("token", "create", "--name", name, "--scope", "order").exit_code == 0
    (tmp_path / "keys.txt").write_text(run("encryption", "key").stdout)
    monkeypatch.setenv("GEAR_ENCRYPTION_KEYRING", str(tmp_path / "keys.txt"))
    assert run_now(encrypt_anew(rows=1))["tokens"] == 2
    (entry,) = [entry for entry in entries() if entry["action"].startswith("encryption.")]
    assert (entry["action"], entry["subject"], entry["actor"]) == ("encryption.rotate", "database", "command")
    (tmp_path / "keys.txt").write_text(run("encryption", "key").stdout)
    assert run("encryption", "rotate").exit_code == 1, "no key decrypts what is there"
    assert len([entry for entry in entries() if entry["action"].startswith("encryption.")]) == 1


def test_what_was_refused_is_not_recorded() -> None:
    assert run("token", "revoke", "nobody").exit_code == 1
    assert run("webhook", "rotate", "nobody").exit_code == 1
    assert entries() == []


def test_entries_are_chosen_by_actor_subject_and_time() -> None:
    run("token", "create", "--name", "a", "--scope", "order")
    token = json.loads(run("token", "create", "--name", "b", "--scope", "order", "--json").stdout)
    assert [entry["details"]["name"] for entry in entries("--subject", token["id"])] == ["b"]
    assert len(entries("--actor", "command")) == 2
    assert entries("--actor", "system") == []
    later = run("audit", "--since", "2999-01-01T00:00:00Z")
    assert (later.exit_code, later.stdout) == (0, "")


def test_people_read_a_line_for_each_entry() -> None:
    run("token", "create", "--name", "a", "--scope", "order")
    *_, line = run("audit", "--since", "1h").stdout.splitlines()
    assert "  command (ann@" in line
    assert "  token.create  tok_" in line


@pytest.mark.parametrize("since", ["yesterday", "2026-01-01", "5x"])
def test_a_time_that_is_none_is_refused(since: str) -> None:
    result = run("audit", "--since", since)
    assert result.exit_code == 2
    assert "--since" in result.stderr
