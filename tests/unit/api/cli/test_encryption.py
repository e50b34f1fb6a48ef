"""`gear-api encryption`: keys are made, checked and rotated; none is ever printed again."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli.main import main
from tests.support.store.migrated import migrated


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a migrated SQLite file and a token made without keys."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path}/gear.db"
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    asyncio.run(migrated(url))
    assert run("token", "create", "--name", "shop", "--scope", "order").exit_code == 0
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def secret(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "gear.db")) as connection:
        [(value,)] = connection.execute("SELECT webhook_secret FROM tokens").fetchall()
    return str(value)


def test_what_was_plain_is_encrypted_and_a_key_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "GEAR_ENCRYPTION_KEYRING is not set" in run("encryption", "rotate").stderr
    first, second = (run("encryption", "key").stdout for _ in range(2))
    assert first != second
    keys = folder / "keys.txt"
    monkeypatch.setenv("GEAR_ENCRYPTION_KEYRING", str(keys))
    keys.write_text(f"# the first\n\n{first}")
    plain = secret(folder)
    assert plain.startswith("whsec_")
    assert json.loads(run("encryption", "rotate", "--json").stdout)["tokens"] == 1
    once = secret(folder)
    assert once.startswith("fernet:")
    for path in folder.glob("gear.db*"):
        assert plain.encode() not in path.read_bytes()
    keys.write_text(second + first)
    assert run("encryption", "rotate").exit_code == 0
    assert secret(folder) != once
    keys.write_text(second)
    assert run("token", "list").exit_code == 0
    keys.write_text(first)
    for command in (("token", "list"), ("encryption", "rotate")):
        failed = run(*command)
        assert failed.exit_code == 1
        assert "no key of GEAR_ENCRYPTION_KEYRING decrypts them" in failed.stderr
        assert first.strip() not in failed.output


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "holds no key"),
        (b"# none\n", "holds no key"),
        (b"c2VjcmV0LW9mLW91cnM=\n", "holds a line that is no key"),
        (b"\xff\xfe", "cannot be read: it is not ASCII text"),
    ],
)
def test_a_file_without_keys_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, reason: str
) -> None:
    if content is not None:
        (folder / "keys.txt").write_bytes(content)
    monkeypatch.setenv("GEAR_ENCRYPTION_KEYRING", "keys.txt")
    result = run("token", "list")
    assert result.exit_code == 1
    assert "GEAR_ENCRYPTION_KEYRING" in result.stderr
    assert reason in result.stderr
    assert "c2VjcmV0" not in result.output
