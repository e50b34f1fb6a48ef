"""Registered endpoints of a token's callbacks, each with a signing secret of its own; makes such secrets.

A token with endpoints sends callbacks to them alone.
"""

import base64
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from sqlalchemy import bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.schema import webhook_endpoints

_ID_BYTES: Final = 12
_SECRET_BYTES: Final = 32  # Standard Webhooks asks for 24 to 64
_PORTS: Final = {"http": 80, "https": 443}
_ALL: Final = select(webhook_endpoints).order_by(webhook_endpoints.c.created_at, webhook_endpoints.c.id)
_OF_TOKEN: Final = _ALL.where(webhook_endpoints.c.token_id == bindparam("of_token"))


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint: `url` alone where `exact`, else also what is below its path, with any query."""

    id: str
    token_id: str
    url: str
    exact: bool
    secret: str = field(repr=False)
    previous_secret: str | None = field(default=None, repr=False)
    previous_secret_until: datetime | None = None
    created_at: datetime

    def secrets(self, now: datetime) -> tuple[str, ...]:
        """The secrets that sign now, newest first."""
        return signing_secrets(self.secret, self.previous_secret, self.previous_secret_until, now)

    def covers(self, url: str) -> bool:
        """Whether callbacks to this URL go to the endpoint. A path that climbs (`/hooks/../x`) is below nothing."""
        if self.exact or url == self.url:
            return url == self.url
        own, other = urlsplit(self.url), urlsplit(url)
        if _origin(own) != _origin(other):
            return False
        segments = re.split(r"[/\\]", unquote(other.path))
        if any(segment.partition(";")[0] in (".", "..") for segment in segments):
            return False
        return other.path == own.path or other.path.startswith(own.path.rstrip("/") + "/")


def signing_secrets(secret: str, previous: str | None, until: datetime | None, now: datetime) -> tuple[str, ...]:
    """The secret, and the previous one where that still signs `until` later than now."""
    return (secret,) if previous is None or until is None or until <= now else (secret, previous)


def new_webhook_secret() -> str:
    """A random secret in the form of Standard Webhooks."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def covering(endpoints: Iterable[Endpoint], url: str) -> Endpoint | None:
    """The endpoint that callbacks to this URL go to, the longest where several cover it."""
    return max(
        (endpoint for endpoint in endpoints if endpoint.covers(url)),
        key=lambda covering: len(covering.url),
        default=None,
    )


async def add(connection: AsyncConnection, token_id: str, url: str, *, exact: bool, now: datetime) -> Endpoint:
    """Registers an endpoint with a new secret; raises ValueError where the token has it already."""
    if url in [endpoint.url for endpoint in await of_token(connection, token_id)]:
        raise ValueError(f"the token has the endpoint {url} already")
    endpoint = Endpoint(
        id="ep_" + secrets.token_urlsafe(_ID_BYTES),
        token_id=token_id,
        url=url,
        exact=exact,
        secret=new_webhook_secret(),
        created_at=now,
    )
    await connection.execute(insert(webhook_endpoints).values(vars(endpoint)))
    return endpoint


async def of_token(connection: AsyncConnection, token_id: str) -> list[Endpoint]:
    """The endpoints of the token, oldest first."""
    return [Endpoint(**row._mapping) for row in await connection.execute(_OF_TOKEN, {"of_token": token_id})]


async def list_all(connection: AsyncConnection) -> list[Endpoint]:
    """Every endpoint, oldest first."""
    return [Endpoint(**row._mapping) for row in await connection.execute(_ALL)]


async def remove(connection: AsyncConnection, endpoint_id: str) -> bool:
    """Removes the endpoint; False where there is none of this id."""
    rows = await connection.execute(delete(webhook_endpoints).where(webhook_endpoints.c.id == endpoint_id))
    return rows.rowcount > 0


async def rotate(connection: AsyncConnection, endpoint_id: str, old_until: datetime | None) -> str | None:
    """Gives the endpoint a new secret and returns it, None where there is no such endpoint. The old one signs too
    until `old_until`, or no longer where that is None.
    """
    secret = new_webhook_secret()
    previous = webhook_endpoints.c.secret if old_until is not None else None
    rows = await connection.execute(
        update(webhook_endpoints)
        .where(webhook_endpoints.c.id == endpoint_id)
        .values(secret=secret, previous_secret=previous, previous_secret_until=old_until)
    )
    return secret if rows.rowcount else None
