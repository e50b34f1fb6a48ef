"""Builds the clients of the search engine from its settings. No other module does."""

import ssl
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import SplitResult, unquote, urlsplit

import orjson
import urllib3
from opensearchpy import AsyncOpenSearch, OpenSearch
from opensearchpy.exceptions import SerializationError
from opensearchpy.serializer import JSONSerializer
from pydantic import AfterValidator, Field, FilePath, SecretStr
from pydantic_settings import SettingsConfigDict

from mappings.platforms import PLATFORM_FILES
from mappings.secret_files import SecretFileSettings
from mappings.transport.nodes import FailoverTransport, Node, NodePool, Observer, OnChange

BLOCKING_CONNECT_SECONDS = 5.0

MIN_DIGEST_KEY = 32  # characters


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, brackets that do not close
        return False


def _checked_addresses(value: str) -> str:
    if not all(_is_address(address.strip()) for address in value.split(",")):
        raise ValueError("must be http:// or https:// addresses, separated by commas")
    return value


def _checked_certificates(file: Path) -> Path:
    try:
        ssl.create_default_context(cafile=file)
    except OSError:  # also what is no certificate
        raise ValueError(f"{file} has no certificates that can be read") from None
    return file


class SearchSettings(SecretFileSettings):
    """Where the engine is and under which names its indices live, from `GEAR_…` variables and `.env`."""

    model_config = SettingsConfigDict(env_prefix="GEAR_", env_file=".env", extra="ignore", hide_input_in_errors=True)

    opensearch_url_file: Path | None = None
    opensearch_url: Annotated[str, AfterValidator(_checked_addresses)] = Field(
        default="http://127.0.0.1:9200",
        description="one address, or several of one cluster separated by commas",
        repr=False,  # it may hold a password
    )
    opensearch_username: str | None = None
    opensearch_password_file: Path | None = None
    opensearch_password: SecretStr | None = None
    opensearch_ca_certs: Annotated[FilePath, AfterValidator(_checked_certificates)] | None = Field(
        default=None, description="file with the certificates that sign the engine's own, for https"
    )
    platform_files: Path = Field(default=PLATFORM_FILES, description="folder with one `<id>.toml` a platform")
    digest_key_file: Path | None = None
    digest_key: SecretStr | None = Field(
        default=None, min_length=MIN_DIGEST_KEY, description="signs the items that are loaded, for the API to verify"
    )
    index_prefix: str = Field(default="gear", pattern=r"^[a-z][a-z0-9-]{0,63}$")

    @property
    def addresses(self) -> list[SplitResult]:
        return [urlsplit(address.strip()) for address in self.opensearch_url.split(",")]

    @property
    def redacted_address(self) -> str:
        """The engine's addresses without logins."""
        return ",".join(
            f"{each.scheme}://{each.netloc.rpartition('@')[2]}{each.path.rstrip('/')}" for each in self.addresses
        )

    @property
    def derived_digest_key(self) -> bytes:
        """The key of the items' digests, of 32 bytes; empty where none is set."""
        return b"" if self.digest_key is None else sha256(self.digest_key.get_secret_value().encode()).digest()

    def alias(self, platform: int) -> str:
        """The alias that searches and live changes of a platform use, such as `gear-730`."""
        return f"{self.index_prefix}-{platform}"


class _FastJson(JSONSerializer):
    """JSON by orjson: several times faster than the library's own, and strict about numbers."""

    def dumps(self, data: Any) -> Any:
        return data if isinstance(data, str | bytes) else orjson.dumps(data)

    def loads(self, s: Any) -> Any:
        try:
            return orjson.loads(s)
        except orjson.JSONDecodeError as error:
            raise SerializationError(s, error) from error


class _RawResponses(_FastJson):
    """Requests by orjson; responses stay bytes."""

    def loads(self, s: Any) -> Any:
        return s


def _options(settings: SearchSettings, timeout: float, retries: int) -> dict[str, Any]:
    login: tuple[str, str] | None = None
    for address in settings.addresses:
        if address.username is not None:
            login = (unquote(address.username), unquote(address.password or ""))
    if settings.opensearch_username:
        password = settings.opensearch_password
        login = (settings.opensearch_username, password.get_secret_value() if password else "")
    options: dict[str, Any] = {
        "hosts": settings.redacted_address.split(","),
        "timeout": timeout,
        "max_retries": retries,
        "retry_on_status": (502, 504),
        "retry_on_timeout": False,
        "serializer": _FastJson(),
        "http_compress": False,
    }
    if login is not None:
        options["http_auth"] = login
    if settings.opensearch_ca_certs:
        options["ca_certs"] = str(settings.opensearch_ca_certs)
    return options


def connect(settings: SearchSettings, *, timeout: float = 60, retries: int = 3, connections: int = 8) -> OpenSearch:
    """A blocking client for the command line: `timeout` seconds a call, `retries` on a lost connection.

    Without `retries` a node that did not answer in time is left out for a while, for callers that try again themselves.
    """
    options = _options(settings, timeout, retries)
    options["timeout"] = urllib3.Timeout(connect=min(timeout, BLOCKING_CONNECT_SECONDS), read=timeout)
    options["retry_on_timeout"] = retries == 0  # only what is to be tried again is left out
    return OpenSearch(**options, pool_maxsize=connections)


def connect_async(
    settings: SearchSettings,
    *,
    timeout: float = 2.5,
    retries: int = 1,
    connections: int = 32,
    on_change: OnChange | None = None,
    observer: Observer | None = None,
) -> AsyncOpenSearch:
    """A client for the API: one pool of keep-alive connections a node, `timeout` seconds a call.

    Its responses are the bytes of JSON, of which callers read only parts. `on_change` is called when a node is left
    out or taken back, `observer` surrounds each request.
    """
    options = _options(settings, timeout, retries)
    options |= {"connection_class": Node, "connection_pool_class": NodePool, "transport_class": FailoverTransport}
    options["serializer"] = _RawResponses()
    return AsyncOpenSearch(**options, pool_maxsize=connections, on_change=on_change, observer=observer)
