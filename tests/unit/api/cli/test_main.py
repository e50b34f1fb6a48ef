"""`gear-api`: every command explains itself, and tokens are made, listed and revoked on a real SQLite file."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from tests.support.store.migrated import migrated


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name)


@pytest.fixture
def gear_api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs a command on an empty migrated SQLite file."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/gear.db"
    monkeypatch.setenv("GEAR_DATABASE_URL", url)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    asyncio.run(migrated(url))
    return run


def create_token(gear_api: Any, *options: str) -> dict[str, Any]:
    result = gear_api("token", "create", "--name", "shop", "--scope", "search", *options, "--json")
    assert result.exit_code == 0, result.output
    shown: dict[str, Any] = json.loads(result.stdout)
    return shown


@pytest.mark.parametrize("path", list(commands(main)), ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_explains_itself_with_an_example(path: tuple[str, ...], option: str) -> None:
    result = CliRunner().invoke(main, [*path, option])
    assert result.exit_code == 0
    assert result.stderr == ""
    assert " ".join(("Example: ", *path)).replace("  ", " ").split(":")[0] in result.stdout
    assert re.search(rf"Example: [^\n]*gear-api {' '.join(path)}", re.sub(r"\s+", " ", result.stdout))


def test_the_commands_are_those_of_the_contract() -> None:
    command_names = {" ".join(path) for path in commands(main)}
    assert {"serve", "token create", "token list", "token revoke", "openapi", "migrate"} <= command_names


def test_the_help_of_commands_needs_no_service() -> None:
    code = "import sys, api.cli.main\nprint({'fastapi', 'opensearchpy', 'pydantic', 'sqlalchemy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_installed_command_starts_and_says_its_version() -> None:
    command = Path(sys.executable).parent / "gear-api"
    done = subprocess.run([str(command), "--version"], capture_output=True, text=True, check=True)
    assert re.search(r"\d+\.\d+\.\d+", done.stdout)


def test_a_new_token_is_shown_with_its_two_secrets(gear_api: Any) -> None:
    shown = create_token(gear_api, "--scope", "order")
    assert re.fullmatch(r"gear_[A-Za-z0-9_-]{43}", shown["token"])
    assert shown["webhookSecret"].startswith("whsec_")
    assert shown["id"].startswith("tok_")
    assert (shown["name"], shown["scopes"], shown["sandbox"]) == ("shop", ["order", "search"], False)
    assert (shown["expiresAt"], shown["revokedAt"]) == (None, None)
    assert datetime.fromisoformat(shown["createdAt"]).tzinfo is not None


def test_people_read_it_line_by_line_and_are_asked_to_keep_it(gear_api: Any) -> None:
    result = gear_api("token", "create", "--name", "shop", "--scope", "search", "--scope", "order")
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert lines["token"].startswith("gear_")
    assert lines["scopes"] == "order search"
    assert "not shown again" in result.stderr


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90d", timedelta(days=90)),
        ("12h", timedelta(hours=12)),
        ("30m", timedelta(minutes=30)),
        ("60s", timedelta(seconds=60)),
        ("99999d", timedelta(days=99_999)),
    ],
)
def test_a_token_may_expire(gear_api: Any, text: str, length: timedelta) -> None:
    shown = create_token(gear_api, "--expires", text, "--sandbox")
    created, expires = (datetime.fromisoformat(shown[name]) for name in ("createdAt", "expiresAt"))
    assert expires - created == length
    assert abs(created - datetime.now(UTC)) < timedelta(minutes=5)
    assert shown["sandbox"] is True


@pytest.mark.parametrize("text", ["", "90", "d", "0d", "-1d", "1.5h", "90 d", "1w", "100000d", "90D", "٩d"])
def test_a_duration_that_is_none_is_refused(gear_api: Any, text: str) -> None:
    result = gear_api("token", "create", "--name", "shop", "--scope", "search", "--expires", text)
    assert result.exit_code == 2
    message = " ".join(result.stderr.split())
    assert "is not a duration such as 90d, 12h, 30m or 60s, with a number up to 99999" in message
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--scope", "search"], 2, "--name"),
        (["--name", "shop"], 2, "--scope"),
        (["--name", "shop", "--scope", "admin"], 2, "'admin' is not one of"),
        (["--name", " ", "--scope", "search"], 1, "printable characters"),
        (["--name", "x" * 129, "--scope", "search"], 1, "1 to 128"),
        (["--name", "a\nb", "--scope", "search"], 1, "printable"),
        (["--name", "tok_x", "--scope", "search"], 1, "must not begin with tok_"),
    ],
)
def test_a_token_that_cannot_be_is_refused(gear_api: Any, options: list[str], status: int, message: str) -> None:
    result = gear_api("token", "create", *options, "--json")
    assert (result.exit_code, result.stdout) == (status, "")
    assert message in result.stderr
    assert json.loads(gear_api("token", "list", "--json").stdout) == []


def test_the_list_has_every_token_and_no_secret(gear_api: Any) -> None:
    first, second = create_token(gear_api), create_token(gear_api, "--expires", "1d")
    as_json, as_text = gear_api("token", "list", "--json"), gear_api("token", "list")
    listed = json.loads(as_json.stdout)
    assert listed == [
        {key: value for key, value in token.items() if key not in ("token", "webhookSecret")}
        for token in (first, second)
    ]
    for secret in (first["token"], first["webhookSecret"], second["token"], second["webhookSecret"]):
        assert secret not in as_json.output + as_text.output
    lines = as_text.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [first["id"], second["id"]]
    assert "never" in lines[0]
    assert second["expiresAt"] in lines[1]


def test_an_empty_list_is_an_empty_list(gear_api: Any) -> None:
    assert json.loads(gear_api("token", "list", "--json").stdout) == []
    assert gear_api("token", "list").stdout == ""


def test_a_token_is_revoked_by_its_name_or_id_and_only_once(gear_api: Any) -> None:
    shown = create_token(gear_api)
    assert gear_api("token", "revoke", shown["name"]).exit_code == 0
    (listed,) = json.loads(gear_api("token", "list", "--json").stdout)
    assert listed["revokedAt"] is not None
    assert "revoked" in gear_api("token", "list").stdout
    again = gear_api("token", "revoke", shown["id"])
    assert again.exit_code == 1
    assert "gear-api token list" in again.stderr
    other = create_token(gear_api)
    assert gear_api("token", "revoke", other["id"]).exit_code == 0


def test_a_name_of_two_tokens_revokes_neither(gear_api: Any) -> None:
    ids = [create_token(gear_api)["id"], create_token(gear_api)["id"]]
    result = gear_api("token", "revoke", "shop")
    assert result.exit_code == 1
    assert all(token_id in result.stderr for token_id in ids)
    assert [token["revokedAt"] for token in json.loads(gear_api("token", "list", "--json").stdout)] == [None, None]


@pytest.mark.parametrize("arguments", [["create", "--name", "x", "--scope", "search"], ["list"], ["revoke", "x"]])
def test_without_a_schema_the_commands_say_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/other.db")
    result = CliRunner().invoke(main, ["token", *arguments])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "run gear-api migrate" in result.stderr


def test_migrating_twice_is_as_good_as_once(gear_api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/new.db")
    assert gear_api("migrate").exit_code == 0
    create_token(gear_api)
    result = gear_api("migrate")
    assert (result.exit_code, result.stdout) == (0, "")
    assert len(json.loads(gear_api("token", "list", "--json").stdout)) == 1


def test_the_description_is_printed_as_json(gear_api: Any) -> None:
    result = gear_api("openapi")
    assert result.stderr == ""
    assert set(json.loads(result.stdout)["paths"]) >= {"/v1/gear/search", "/v1/gear", "/v1/gear/{id}", "/v1/platforms"}


def test_a_platform_file_that_cannot_be_used_is_named_before_serving(
    gear_api: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "1.toml").write_text("id = ", encoding="utf-8")
    monkeypatch.setenv("GEAR_PLATFORM_FILES", str(tmp_path))
    for command in ("openapi", "serve"):
        result = gear_api(command)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "1.toml" in result.stderr
        assert "Traceback" not in result.stderr
