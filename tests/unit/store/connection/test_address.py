"""GEAR_DATABASE_URL: what is accepted, what it becomes, and that a refusal names the setting and no password."""

import ssl
from pathlib import Path

import certifi
import pytest
from pydantic import ValidationError

from store.connection.address import database_address
from store.connection.engine import Store
from store.connection.errors import AddressRefused
from store.connection.postgres import connect_args
from store.connection.settings import StoreSettings

REFUSED = {
    "mysql://gear:s3cret@db/gear": "has the scheme 'mysql', which is not supported",
    "postgresql+psycopg://gear:s3cret@db/gear": "has the scheme 'postgresql\\+psycopg', which is not supported",
    "gear:s3cret@db": "is not a database URL",
    "": "is not a database URL",
    "postgresql://gear:s3cret@db:port/gear": "is not a database URL",
    "postgresql://gear:s3cret@db": "names no database",
    "postgresql://gear:s3cret@db/gear?sslmod=require": "has unknown options: sslmod",
    "postgresql://gear:s3cret@db/gear?target_session_attrs=standby": "has a target_session_attrs that is not one of",
    "postgresql://gear:s3cret@a,b/gear?target_session_attrs=reads": "has a target_session_attrs that is not one of",
    "postgresql://gear:s3cret@db/gear?sslrootcert=/nowhere.pem": "has an sslrootcert that is not a file",
    f"postgresql://gear:s3cret@db/gear?sslrootcert={__file__}": "has an sslrootcert that is not a file",
    "postgresql://gear:s3cret@db/gear?sslmode=require&sslrootcert=/x.pem": "has an sslrootcert, which goes with",
    "postgresql://gear:s3cret@db/gear?sslmode=verify": "has an sslmode that is not one of",
    "postgresql://gear:s3cret@db:70000/gear": "has a port that is not one of 1 to 65535",
    "postgresql://gear:s3cret@a:5432,b:70000/gear": "has a port that is not one of 1 to 65535",
    "postgresql://gear:s3cret@/gear?host=a:5432&host=b": "has hosts that are not all of the form host:port",
    "postgresql://gear:s3cret@/gear?host=a,b:port": "has hosts that are not all of the form host:port",
    "sqlite://": "must name a file",
    "sqlite:///:memory:": "must name a file",
    "sqlite:///file:gear?mode=memory": "must name a file",
    "sqlite://host/gear.db": "must be sqlite:/// and a path alone",
    "sqlite:///gear.db?timeout=9": "must be sqlite:/// and a path alone",
}


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("postgres://gear:s3cret@db:5433/gear", "postgresql+asyncpg"),
        ("postgresql://gear:s3cret@db:5433/gear", "postgresql+asyncpg"),
        ("postgresql+asyncpg://gear:s3cret@db:5433/gear", "postgresql+asyncpg"),
        ("sqlite:////var/lib/gear.db", "sqlite+aiosqlite"),
        ("sqlite+aiosqlite:////var/lib/gear.db", "sqlite+aiosqlite"),
    ],
)
def test_plain_addresses_get_the_asynchronous_driver(url: str, driver: str) -> None:
    address = database_address(url)
    assert address.drivername == driver
    if driver == "postgresql+asyncpg":
        assert (address.username, address.password, address.host, address.port, address.database) == (
            ("gear", "s3cret", "db", 5433, "gear")
        )
    else:
        assert address.database == "/var/lib/gear.db"


def test_libpqs_word_for_encryption_is_accepted() -> None:
    assert database_address("postgresql://db/gear?sslmode=verify-full").query == {"ssl": "verify-full"}
    assert database_address("postgresql:///gear?host=/run/postgresql").query == {"host": "/run/postgresql"}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://gear:s3,cret@a:5433,b/gear",
        "postgresql://gear:s3,cret@/gear?host=a:5433&host=b:5432",
    ],
)
def test_several_hosts_are_understood_as_libpq_and_sqlalchemy_write_them(url: str) -> None:
    address = database_address(url)
    assert (address.username, address.password, address.database) == ("gear", "s3,cret", "gear")
    assert address.query == {"host": ("a:5433", "b:5432"), "target_session_attrs": "read-write"}
    assert database_address(address.render_as_string(hide_password=False)) == address


@pytest.mark.parametrize(("mode", "checks_name"), [("verify-full", True), ("verify-ca", False), (None, True)])
def test_certificates_are_those_of_the_file(mode: str | None, checks_name: bool) -> None:
    option = "" if mode is None else f"sslmode={mode}&"
    address = database_address(f"postgresql://db/gear?{option}sslrootcert={certifi.where()}")
    plain, arguments = connect_args(address, 5, 5)
    assert plain.query == {}
    context = arguments["ssl"]
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, checks_name)
    assert context.get_ca_certs()


def test_a_relative_file_is_taken_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert database_address("sqlite:///var/gear.db").database == str(tmp_path / "var/gear.db")


@pytest.mark.parametrize(("url", "reason"), REFUSED.items())
def test_other_addresses_are_refused_without_quoting_them(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused, match=f"^GEAR_DATABASE_URL {reason}.*; use sqlite") as caught:
        database_address(url)
    assert "s3cret" not in str(caught.value)
    with pytest.raises(AddressRefused):
        Store(url)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without `.env`, and no GEAR_DATABASE_URL."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GEAR_DATABASE_URL", raising=False)
    return tmp_path


def test_the_default_is_a_file_below_var(elsewhere: Path) -> None:
    assert StoreSettings().database_url == f"sqlite+aiosqlite:///{elsewhere}/var/gear.db"
    assert list(elsewhere.iterdir()) == []  # reading the settings makes nothing


def test_the_address_is_read_from_the_environment_or_the_env_file(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / ".env").write_text("GEAR_DATABASE_URL=postgresql://gear:s3cret@db/file\nGEAR_OTHER=1\n")
    assert StoreSettings().database_url == "postgresql+asyncpg://gear:s3cret@db/file"
    monkeypatch.setenv("GEAR_DATABASE_URL", "postgresql://gear:s3cret%40@db/environment")
    settings = StoreSettings()
    assert settings.database_url == "postgresql+asyncpg://gear:s3cret%40@db/environment"
    assert "s3cret" not in repr(settings) + str(settings)


@pytest.mark.parametrize("url", REFUSED)
@pytest.mark.usefixtures("elsewhere")
def test_a_bad_setting_is_named_without_its_value(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", url)
    with pytest.raises(ValidationError, match="GEAR_DATABASE_URL") as caught:
        StoreSettings()
    assert "s3cret" not in str(caught.value) + repr(caught.value)
