"""The settings of the API from `GEAR_…` variables and `.env`, validated once a process."""

import re
from datetime import timedelta
from decimal import Decimal
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from limits import parse_many
from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from api.rate_limits.storage import open_storage
from mappings.connection import SearchSettings
from store.connection.settings import StoreSettings

_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_duration(text: str) -> timedelta:
    """Parses a duration such as `90d`; raises ValueError."""
    match = re.fullmatch(r"([1-9]\d{0,4})([smhd])", text, re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is not a duration such as 90d, 12h, 30m or 60s, with a number up to 99999")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    return parse_duration(value.strip()) if value.strip() else None


def _checked_storage(value: str) -> str:
    if value.strip():
        open_storage(value.strip())
    return value.strip()


class Settings(SearchSettings, StoreSettings):
    """What a deployment chooses; the defaults suit a laptop."""

    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8000, ge=0, le=65535)
    max_concurrency: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="requests in flight per worker, of searches and of orders each; default: adaptive",
    )
    max_connections: int = Field(
        default=4_000, ge=1, le=1_000_000, description="open connections per worker; more are refused with 503"
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=600, description="seconds from SIGTERM, not ready but serving, until the server stops"
    )
    public_url: str = Field(
        default="",
        description="base URL of every `statusUrl`, as buyers reach the service; default: where it listens",
    )
    search_timeout: float = Field(
        default=2.5, gt=0, le=60, description="seconds until a request to the engine fails with 503"
    )
    response_cache_mib: int = Field(
        default=12, ge=0, le=65_536, description="response cache size per worker, in MiB; 0 disables it"
    )
    product_cache_mib: int = Field(
        default=24, ge=0, le=65_536, description="product cache size per worker for searches, in MiB; 0 disables it"
    )
    rate_limit: str = Field(
        default="100/second", description="cost of requests per token, such as `100/second`; empty disables it"
    )
    address_rate_limit: str = Field(
        default="100/second", description="requests without a valid token per address; empty disables it"
    )
    rate_limit_storage_file: Path | None = None
    rate_limit_storage: Annotated[str, AfterValidator(_checked_storage)] = Field(
        default="",
        repr=False,
        description="where workers and hosts count together, such as `redis://host:6379`; default: each worker alone",
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="addresses and networks whose `X-Forwarded-For` is believed, separated by commas",
    )
    max_searches_per_token: int = Field(
        default=256, ge=1, le=100_000, description="searches of one token under way at once, in each worker"
    )
    max_saved_searches: int = Field(
        default=100, ge=0, le=100_000, description="saved searches that a token may have at once"
    )
    fee_rate: Decimal = Field(default=Decimal(0), ge=0, le=1, description="share of the price, such as 0.05")
    order_expiry: Annotated[timedelta | None, BeforeValidator(_duration)] = Field(
        default=timedelta(hours=24),
        gt=timedelta(0),
        description="time after which an order that is still `created` fails, such as `24h`; empty: never",
    )
    order_max_index_age: Annotated[timedelta | None, BeforeValidator(_duration)] = Field(
        default=None,
        gt=timedelta(0),
        description="age of an item in the index from which on it cannot be ordered, such as `7d`; default: none",
    )
    changes_retention: Annotated[timedelta, BeforeValidator(_duration)] = Field(
        default=timedelta(hours=24),
        ge=timedelta(hours=24),
        description="time for which the change feed is kept at least, such as `48h`",
    )
    personal_data_days: int | None = Field(
        default=None,
        ge=8,
        le=36_500,
        description="days after an order's last change until its personal data are erased; default: never",
    )
    allow_insecure_callbacks: bool = Field(
        default=False, description="accept http and private addresses in an order's URLs, for development"
    )

    explore: bool = Field(default=False, description="serve `/explore`, a page on which people search and try orders")
    explore_token_file: Path | None = None
    explore_token: str = Field(
        default="",
        repr=False,
        description="the token that everybody who opens `/explore` gets; without one the page asks for a token",
    )
    prometheus_multiproc_dir: Path | None = Field(
        default=None,
        validation_alias="PROMETHEUS_MULTIPROC_DIR",
        description="folder in which several workers count; `gear-api serve --workers` creates one",
    )
    tracing: bool = Field(
        default=False, description="send traces by OpenTelemetry's OTLP/HTTP; `OTEL_…` variables say where to"
    )
    deliver_callbacks: bool = Field(
        default=True,
        description="whether serving processes send callbacks; false leaves them to `gear-api deliver`",
    )

    _public_url_is_set: bool = PrivateAttr(default=False)

    @field_validator("rate_limit", "address_rate_limit")
    @classmethod
    def _check_rate_limit(cls, value: str) -> str:
        limits = parse_many(value) if value.strip() else []
        if len(limits) > 1:
            raise ValueError("must be one limit: no other would count")
        if any(limit.amount == 0 for limit in limits):
            raise ValueError("would refuse every request; leave it empty for no limit")
        return value.strip()

    @field_validator("tracing")
    @classmethod
    def _check_tracing(cls, value: bool) -> bool:
        if value and not all(find_spec(package) for package in ("opentelemetry.sdk", "wrapt")):
            raise ValueError("needs OpenTelemetry's SDK: pip install '.[otel]' in the checkout")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _check_trusted_proxies(cls, value: str) -> str:
        networks = [part.strip() for part in value.split(",") if part.strip()]
        for network in networks:
            ip_network(network)
        return ",".join(networks)

    @field_validator("public_url")
    @classmethod
    def _check_public_url(cls, value: str) -> str:
        if not value:
            return value
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.port == 0:
            raise ValueError("must be http:// or https:// and a host, without user info")
        if parts.query or parts.fragment:
            raise ValueError("must have neither a query nor a fragment: paths are appended to it")
        return value.rstrip("/")

    @property
    def public_url_is_set(self) -> bool:
        """Whether `public_url` was set, or is the default."""
        return self._public_url_is_set

    @model_validator(mode="after")
    def _default_public_url(self) -> Self:
        self._public_url_is_set = bool(self.public_url)
        # a link to "every address of this host" leads nowhere
        host = "127.0.0.1" if self.api_host in ("0.0.0.0", "::") else self.api_host  # noqa: S104  # compared, not bound
        self.public_url = self.public_url or f"http://{f'[{host}]' if ':' in host else host}:{self.api_port}"
        return self
