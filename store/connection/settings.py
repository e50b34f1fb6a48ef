"""The store's settings, from the environment and `.env`."""

from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Self

from cryptography.fernet import MultiFernet
from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict
from sqlalchemy.engine import make_url

from mappings.secret_files import SecretFileSettings
from store.connection.address import database_address
from store.connection.drivers import DEFAULT_CONNECTIONS
from store.connection.encryption import read_cipher

_TLS_MODES = frozenset({"require", "verify-ca", "verify-full"})


def is_this_machine(host: str | None) -> bool:
    """Whether a host, or the folder of a socket, is on this machine."""
    if not host or host == "localhost" or host.startswith("/"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _with_driver(value: str) -> str:
    return database_address(value).render_as_string(hide_password=False)


class StoreSettings(SecretFileSettings):
    """GEAR_DATABASE_URL, turned into the asynchronous driver's form; a password in it is never shown."""

    model_config = SettingsConfigDict(
        env_prefix="GEAR_", env_file=".env", extra="ignore", hide_input_in_errors=True, validate_default=True
    )

    database_url_file: Path | None = None
    database_url: Annotated[str, AfterValidator(_with_driver)] = Field(
        default="sqlite+aiosqlite:///var/gear.db", repr=False
    )
    database_password_file: Path | None = None
    database_password: SecretStr | None = Field(default=None, description="password of PostgreSQL, apart from its URL")
    database_pool_size: int = Field(
        default=DEFAULT_CONNECTIONS, ge=1, le=1000, description="connections to the database per process, at most"
    )

    erasure_log: Path | None = Field(
        default=None,
        description="file of the ids of orders that were erased on request; default: beside the SQLite file",
    )

    encryption_keyring: Path | None = Field(
        default=None, description="file of keys, one a line, that encrypt secrets and personal data; default: none are"
    )

    @property
    def cipher(self) -> MultiFernet | None:
        """What encrypts and decrypts; None without keys."""
        return None if self.encryption_keyring is None else read_cipher(self.encryption_keyring)

    @property
    def sqlite_file(self) -> Path | None:
        """The SQLite file; None on PostgreSQL."""
        url = database_address(self.database_url)
        return Path(url.database or "") if url.get_backend_name() == "sqlite" else None

    @property
    def database_without_tls(self) -> bool:
        """Whether PostgreSQL is on another machine and nothing says that it is reached by TLS."""
        if self.sqlite_file is not None:
            return False
        url = database_address(self.database_url)
        host_setting = url.query.get("host", url.host)  # the folder of a socket, or hosts
        texts = [host_setting] if isinstance(host_setting, str) else host_setting or ()
        hosts = [host.partition(":")[0] if host.count(":") == 1 else host for text in texts for host in text.split(",")]
        return url.query.get("ssl") not in _TLS_MODES and not all(is_this_machine(host) for host in hosts)

    @property
    def erasure_log_path(self) -> Path | None:
        """Where the ids of orders that were erased on request are kept; None on PostgreSQL without the setting."""
        if self.erasure_log is not None or self.sqlite_file is None:
            return self.erasure_log
        return self.sqlite_file.with_name(f"{self.sqlite_file.name}.forgotten")

    @model_validator(mode="after")
    def _with_password(self) -> Self:
        if self.database_password is not None and self.sqlite_file is None:
            url = make_url(self.database_url).set(password=self.database_password.get_secret_value())
            self.database_url = url.render_as_string(hide_password=False)
        return self

    @field_validator("encryption_keyring")
    @classmethod
    def _with_keys(cls, value: Path | None) -> Path | None:
        if value is not None:
            read_cipher(value)
        return value
