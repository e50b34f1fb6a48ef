"""Settings: what a deployment may choose, checked at the start; a bad value is refused and its variable named."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from api.cli.main import main
from api.settings import Settings


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"GEAR_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_defaults_are_those_of_the_contract(tmp_path: Path) -> None:
    settings = Settings()
    assert settings.opensearch_url == "http://127.0.0.1:9200"
    assert settings.index_prefix == "gear"
    assert settings.database_url == f"sqlite+aiosqlite:///{tmp_path}/var/gear.db"
    assert (settings.api_host, settings.api_port) == ("127.0.0.1", 8000)
    assert settings.rate_limit == "100/second"
    assert settings.fee_rate == 0
    assert settings.order_expiry == timedelta(hours=24)
    assert settings.allow_insecure_callbacks is False


GOOD: list[tuple[str, str, Any]] = [
    ("API_PORT", "0", 0),
    ("API_PORT", "65535", 65535),
    ("RATE_LIMIT", "", ""),
    ("RATE_LIMIT", "  ", ""),
    ("RATE_LIMIT", "5/second", "5/second"),
    ("RATE_LIMIT", "1000 per 10 minutes", "1000 per 10 minutes"),
    ("FEE_RATE", "0.05", Decimal("0.05")),
    ("FEE_RATE", "1", Decimal(1)),
    ("ORDER_EXPIRY", "90m", timedelta(minutes=90)),
    ("ORDER_EXPIRY", " ", None),
    ("ORDER_EXPIRY", "", None),
    ("ALLOW_INSECURE_CALLBACKS", "true", True),
    ("PUBLIC_URL", "https://shop.example/gear/", "https://shop.example/gear"),
    ("SEARCH_TIMEOUT", "0.1", 0.1),
]


@pytest.mark.parametrize(("name", "text", "value"), GOOD)
def test_good_values_are_taken(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: Any) -> None:
    monkeypatch.setenv(f"GEAR_{name}", text)
    assert getattr(Settings(), name.lower()) == value


BAD = [
    ("API_PORT", "65536"),
    ("API_PORT", "http"),
    ("RATE_LIMIT", "many"),
    ("RATE_LIMIT", "5"),
    ("RATE_LIMIT", "0/second"),
    ("RATE_LIMIT", "100/second;1000/minute"),
    ("FEE_RATE", "1.01"),
    ("FEE_RATE", "-0.01"),
    ("FEE_RATE", "5%"),
    ("ORDER_EXPIRY", "0h"),
    ("ORDER_EXPIRY", "soon"),
    ("FEE_RATE", "NaN"),
    ("ALLOW_INSECURE_CALLBACKS", "maybe"),
    ("PUBLIC_URL", "shop.example"),
    ("PUBLIC_URL", "https://"),
    ("PUBLIC_URL", "https://shop.example:80443"),
    ("PUBLIC_URL", "https://shop.example/?a=b"),
    ("PUBLIC_URL", "https://shop.example/#top"),
    ("PUBLIC_URL", "https://user:pass@shop.example"),
    ("SEARCH_TIMEOUT", "0"),
    ("SEARCH_TIMEOUT", "nan"),
    ("OPENSEARCH_URL", "engine:9200"),
    ("INDEX_PREFIX", "Gear"),
    ("DATABASE_URL", "mysql://x"),
]


@pytest.mark.parametrize(("name", "text"), BAD)
def test_a_bad_value_is_refused_and_the_variable_named(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"GEAR_{name}", text)
    with pytest.raises(ValidationError) as refusal:
        Settings()
    assert [error["loc"] for error in refusal.value.errors()] == [(name.lower(),)]
    result = CliRunner().invoke(main, ["openapi"])
    assert result.exit_code == 1
    assert f"GEAR_{name}: " in result.stderr
    assert result.stderr.count(f"GEAR_{name}") == 1
    assert result.stdout == ""


def test_several_bad_values_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_API_PORT", "x")
    monkeypatch.setenv("GEAR_FEE_RATE", "x")
    result = CliRunner().invoke(main, ["serve"])
    assert result.exit_code == 1
    assert "GEAR_API_PORT: " in result.stderr
    assert "GEAR_FEE_RATE: " in result.stderr


def test_a_password_in_an_address_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", "http://shop:hunter2@engine:9200")
    monkeypatch.setenv("GEAR_DATABASE_URL", "postgresql://shop:hunter2@database/gear")
    settings = Settings()
    assert "hunter2" not in repr(settings) + str(settings)
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", "ftp://shop:hunter2@engine:9200")
    result = CliRunner().invoke(main, ["openapi"])
    assert "hunter2" not in result.output


@pytest.mark.parametrize(
    ("values", "public_url"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"api_port": 8211}, "http://127.0.0.1:8211"),
        ({"api_host": "0.0.0.0", "api_port": 80}, "http://127.0.0.1:80"),
        ({"api_host": "gear.internal"}, "http://gear.internal:8000"),
        ({"api_host": "::1"}, "http://[::1]:8000"),
        ({"public_url": "https://gear.example/", "api_port": 80}, "https://gear.example"),
    ],
)
def test_buyers_are_sent_where_the_service_listens_unless_configured(values: dict[str, Any], public_url: str) -> None:
    assert Settings(_env_file=None, **values).public_url == public_url
