"""Unsafe settings: each is found, told without a secret, and refused in production; safe ones pass."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from structlog.testing import capture_logs

from api.cli.doctor import check_settings
from api.cli.main import main
from api.settings import Settings
from api.unsafe_settings import unsafe_settings
from store.connection.encryption import new_key

PAGE = Path(__file__).parents[3] / "docs" / "operations.md"


@pytest.fixture
def safe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """Settings of a careful operator."""
    monkeypatch.chdir(tmp_path)
    keys = tmp_path / "keys"
    keys.write_text(new_key())
    keys.chmod(0o600)
    return {
        "public_url": "https://shop.example.com",
        "opensearch_url": "https://search.internal:9200",
        "opensearch_username": "gear",
        "opensearch_password": "secret-of-the-engine",
        "database_url": "postgresql://gear:secret-of-the-database@db.internal/gear?sslmode=verify-full",
        "encryption_keyring": keys,
    }


def codes(values: dict[str, Any], workers: int = 1) -> list[str]:
    findings = list(unsafe_settings(Settings(_env_file=None, **values), workers))
    assert "secret-of" not in str(findings)
    return [finding.code for finding in findings]


def test_a_careful_operator_gets_no_warning(safe: dict[str, Any]) -> None:
    assert codes(safe) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"allow_insecure_callbacks": True}, "insecure-callbacks"),
        ({"public_url": ""}, "no-public-url"),
        ({"public_url": "http://shop.example.com"}, "public-url-http"),
        ({"opensearch_url": "https://a.internal:9200,http://b.internal:9200"}, "engine-without-tls"),
        ({"opensearch_password": None}, "engine-without-login"),
        ({"database_url": "postgresql://gear:secret-of-it@db.internal/gear"}, "database-without-tls"),
        ({"database_url": "postgresql://gear@db.internal/gear?ssl=prefer"}, "database-without-tls"),
        ({"database_url": "postgresql://gear@/gear?host=db.internal"}, "database-without-tls"),
        ({"encryption_keyring": None}, "not-encrypted"),
        ({"rate_limit": ""}, "no-rate-limit"),
    ],
)
def test_an_unsafe_setting_is_found(safe: dict[str, Any], changes: dict[str, Any], code: str) -> None:
    assert codes({**safe, **changes}) == [code]


@pytest.mark.parametrize(
    "changes",
    [
        {"public_url": "http://127.0.0.1:8000"},
        {"opensearch_url": "http://localhost:9200", "opensearch_password": None},
        {"opensearch_url": "https://gear:secret-of-it@search.internal:9200", "opensearch_password": None},
        {"database_url": "postgresql://gear@localhost/gear"},
        {"database_url": "postgresql://gear@[::1]:5432/gear"},
        {"database_url": "postgresql://gear@/gear?host=/var/run/postgresql"},
        {"database_url": "postgresql://gear@db.internal/gear?ssl=require"},
    ],
)
def test_what_stays_on_this_machine_or_is_protected_is_safe(safe: dict[str, Any], changes: dict[str, Any]) -> None:
    assert codes({**safe, **changes}) == []


def test_files_that_others_can_read_are_found(safe: dict[str, Any], tmp_path: Path) -> None:
    database, environment = tmp_path / "gear.db", tmp_path / ".env"
    values = {**safe, "database_url": f"sqlite:///{database}"}
    for file, mode in ((database, 0o644), (environment, 0o644), (safe["encryption_keyring"], 0o640)):
        file.touch()
        file.chmod(mode)
    assert codes(values) == ["keys-readable", "database-readable", "env-readable"]
    for file in (database, environment, safe["encryption_keyring"]):
        file.chmod(0o600)
    assert codes(values) == []


def test_several_workers_need_a_shared_count(safe: dict[str, Any]) -> None:
    assert codes(safe, workers=4) == ["rate-limit-per-worker"]


def test_each_is_one_log_line(safe: dict[str, Any]) -> None:
    settings = Settings(_env_file=None, **{**safe, "allow_insecure_callbacks": True, "rate_limit": ""})
    with capture_logs() as logs:
        check_settings(settings, production=False)
    assert [(line["event"], line["log_level"], line["setting"]) for line in logs] == [
        ("unsafe setting", "warning", "GEAR_ALLOW_INSECURE_CALLBACKS"),
        ("unsafe setting", "warning", "GEAR_RATE_LIMIT"),
    ]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("command", [("serve", "--production"), ("deliver", "--production")])
def test_production_refuses_to_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GEAR_PUBLIC_URL", "https://shop.example.com")
    monkeypatch.setenv("GEAR_ALLOW_INSECURE_CALLBACKS", "true")
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: pytest.fail("it has started"))
    result = run(*command)
    assert result.exit_code == 1
    assert "unsafe in production: insecure-callbacks, not-encrypted" in result.stderr


def test_the_doctor_lists_them_and_values_that_are_not_encrypted(
    monkeypatch: pytest.MonkeyPatch, safe: dict[str, Any], tmp_path: Path
) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/gear.db")
    monkeypatch.setenv("GEAR_PUBLIC_URL", "https://shop.example.com")
    assert run("migrate").exit_code == 0
    assert run("token", "create", "--name", "shop", "--scope", "order").exit_code == 0
    listed = run("doctor", "--json")
    assert listed.exit_code == 0
    assert [finding["code"] for finding in json.loads(listed.stdout)["findings"]] == ["not-encrypted"]
    monkeypatch.setenv("GEAR_ENCRYPTION_KEYRING", str(safe["encryption_keyring"]))
    shown = run("doctor", "--production")
    assert shown.exit_code == 1
    assert "values-plain" in shown.stdout
    assert "1 rows were written without keys" in shown.stdout
    assert run("encryption", "rotate").exit_code == 0
    assert run("doctor", "--production").exit_code == 0


def test_the_page_has_every_code() -> None:
    source = Path("api/unsafe_settings.py"), Path("api/cli/doctor.py")
    text = "".join((PAGE.parents[1] / file).read_text(encoding="utf-8") for file in source)
    defined = set(re.findall(r'UnsafeSetting\(\s*"([a-z-]+)"', text))
    table = PAGE.read_text(encoding="utf-8").partition("## Unsafe settings")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `([a-z-]+)`", table, re.MULTILINE)) == defined
