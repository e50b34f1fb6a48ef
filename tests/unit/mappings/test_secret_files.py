"""Secrets from files: `GEAR_X_FILE` in the place of `GEAR_X`, for every setting that may hold one."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from api.settings import Settings
from mappings.strict_model import describe_setting_errors

SECRETS = {
    "opensearch_url": "https://reader:s3cret@engine:9200",
    "opensearch_password": "s3cret with blanks ",
    "digest_key": "s3cret-of-at-least-32-characters",
    "database_url": "postgresql+asyncpg://gear:s3cret@db/gear",
    "database_password": "s3cret",
    "rate_limit_storage": "redis://:s3cret@127.0.0.1:6379",
    "explore_token": "gear_s3cret",
}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in SECRETS:
        monkeypatch.delenv(f"GEAR_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)


def file_for(name: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file named by the setting's variable."""
    file = folder / name
    file.write_text(text)
    monkeypatch.setenv(f"GEAR_{name.upper()}_FILE", str(file))
    return file


def plain(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def refusal() -> str:
    with pytest.raises(ValidationError) as error:
        Settings()
    text = describe_setting_errors(error.value)
    assert "s3cret" not in text + str(error.value) + repr(error.value)
    return text


def test_every_setting_that_may_hold_a_secret_can_be_a_file() -> None:
    secret = {
        name for name, field in Settings.model_fields.items() if not field.repr or "SecretStr" in str(field.annotation)
    }
    assert secret == set(SECRETS)
    assert {f"{name}_file" for name in secret} <= set(Settings.model_fields)


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_file_counts_as_its_text_without_the_line_end(
    name: str, end: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file_for(name, SECRETS[name] + end, tmp_path, monkeypatch)
    settings = Settings()
    assert plain(getattr(settings, name)) == SECRETS[name]
    assert "s3cret" not in repr(settings)


@pytest.mark.parametrize("name", SECRETS)
def test_a_value_beside_its_file_is_refused(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = file_for(name, SECRETS[name], tmp_path, monkeypatch)
    monkeypatch.setenv(f"GEAR_{name.upper()}", SECRETS[name])
    variable = f"GEAR_{name.upper()}"
    assert refusal() == f"{variable}: is given, and its file {file} ({variable}_FILE) too: keep one"


def test_an_empty_variable_beside_a_file_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file_for("opensearch_password", "s3cret", tmp_path, monkeypatch)
    monkeypatch.setenv("GEAR_OPENSEARCH_PASSWORD", "")
    assert plain(Settings().opensearch_password) == "s3cret"


def test_a_file_that_is_missing_or_empty_is_named_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = file_for("opensearch_password", "\n", tmp_path, monkeypatch)
    subject = f"GEAR_OPENSEARCH_PASSWORD: its file {file} (GEAR_OPENSEARCH_PASSWORD_FILE)"
    assert refusal() == f"{subject} is empty"
    file.write_bytes(b"\xff\xfe")
    assert refusal() == f"{subject} cannot be read: it is not UTF-8 text"
    file.unlink()
    assert refusal() == f"{subject} cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("digest_key", "s3cret", "at least 32"),
        ("database_url", "mysql://s3cret@db/gear", "has the scheme 'mysql', which is not supported"),
        ("opensearch_url", "ftp://s3cret@engine", "http:// or https:// addresses"),
    ],
)
def test_what_a_file_holds_is_checked_as_the_setting_is(
    name: str, text: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = file_for(name, text, tmp_path, monkeypatch)
    message = refusal()
    assert f"what its file {file} (GEAR_{name.upper()}_FILE) holds is refused: " in message
    assert reason in message


def test_the_databases_password_may_be_apart_from_its_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", "postgresql://gear@db/gear?sslmode=require")
    file_for("database_password", "any/character@may:stand #in %41 it?\n", tmp_path, monkeypatch)
    settings = Settings()
    assert settings.database_url == (
        "postgresql+asyncpg://gear:any%2Fcharacter%40may%3Astand %23in %2541 it%3F@db/gear?ssl=require"
    )
    assert "character" not in repr(settings)
