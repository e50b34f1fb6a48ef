"""Access tokens and their webhook secrets: creates, finds, lists, revokes and rotates them."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, Row, bindparam, func, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from store.auth.scopes import SCOPES
from store.connection.errors import AmbiguousName
from store.endpoints import new_webhook_secret
from store.records import Actor
from store.schema import tokens

MAX_NAME_CHARACTERS: Final = 128
DEFAULT_MAX_ACTIVE: Final = 1000
MAX_ACTIVE: Final = 1_000_000
_ID_BYTES: Final = 12
MAX_RATE_LIMIT: Final = 1_000_000
MAX_ORIGINS: Final = 20
MAX_ORIGIN_CHARACTERS: Final = 255
_ORIGIN: Final = re.compile(r"https?://([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[1-9][0-9]{0,4})?")
_HAS_DEFAULT_PORT: Final = re.compile(r"^http:.*:80$|^https:.*:443$")
_SECRET_BYTES: Final = 32  # 256 random bits, 43 url-safe characters


@dataclass(frozen=True, kw_only=True)
class Token:
    """A token without its secret. `webhook_secret` signs callbacks to the token's owner: never log it.

    `rate_limit` is its own cost per window, `filters` the JSON of what it may read, `origins` are the web pages that
    may use it; none: no restriction.
    """

    id: str
    name: str
    scopes: frozenset[str]
    sandbox: bool
    webhook_secret: str = field(repr=False)
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    max_active: int = DEFAULT_MAX_ACTIVE
    max_active_per_account: int | None = None
    rate_limit: int | None = None
    filters: str | None = None
    origins: tuple[str, ...] = ()
    last_used_at: datetime | None = None

    @property
    def actor(self) -> Actor:
        """The token as the audit names it."""
        return Actor(self.id, self.name)

    def usable(self, now: datetime) -> bool:
        """Neither revoked nor expired; it expires at `expires_at`, not after it."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, kw_only=True)
class CreatedToken:
    """A new token and its `plaintext` (`gear_` and 43 characters), which nobody can read again."""

    token: Token
    plaintext: str = field(repr=False)


async def create(
    connection: AsyncConnection,
    name: str,
    scopes: Iterable[str],
    sandbox: bool,
    expires_at: datetime | None,
    now: datetime,
    *,
    max_active: int = DEFAULT_MAX_ACTIVE,
    max_active_per_account: int | None = None,
    rate_limit: int | None = None,
    filters: str | None = None,
    origins: Sequence[str] = (),
) -> CreatedToken:
    """Makes a token. Raises ValueError for a bad name, unknown or no scopes, an expiry that has passed, a limit out of
    bounds, filters beside another scope than `search`, the scope `catalogue` in a sandbox, and what is no origin.
    """
    scopes = frozenset(scopes)
    _check(name, scopes, expires_at, now)
    _check_limits(max_active, max_active_per_account, rate_limit)
    if filters is not None and scopes != {"search"}:
        raise ValueError("a token with filters has the scope search alone: orders are by id, whatever is filtered")
    if sandbox and "catalogue" in scopes:
        raise ValueError("a sandbox token changes nothing that is real: it has no scope catalogue")
    check_origins(origins)
    plaintext = "gear_" + secrets.token_urlsafe(_SECRET_BYTES)
    statement = insert(tokens).values(
        id="tok_" + secrets.token_urlsafe(_ID_BYTES),
        name=name,
        sha256=_digest(plaintext),
        scopes=" ".join(sorted(scopes)),
        sandbox=sandbox,
        webhook_secret=new_webhook_secret(),
        created_at=now,
        expires_at=expires_at,
        max_active=max_active,
        max_active_per_account=max_active_per_account,
        rate_limit=rate_limit,
        filters=filters,
        origins=" ".join(dict.fromkeys(origins)) or None,
    )
    row = (await connection.execute(statement.returning(tokens))).one()
    return CreatedToken(token=_token(row), plaintext=plaintext)


async def find(connection: AsyncConnection, plaintext: str) -> Token | None:
    """The token of this secret, revoked and expired ones too: ask `usable`."""
    digest = _digest(plaintext)
    row = (await connection.execute(select(tokens).where(tokens.c.sha256 == digest))).one_or_none()
    return None if row is None else _token(row)


async def list_all(connection: AsyncConnection) -> list[Token]:
    """Every token, oldest first, revoked and expired ones too."""
    rows = await connection.execute(select(tokens).order_by(tokens.c.created_at, tokens.c.id))
    return [_token(row) for row in rows]


async def revoke(
    connection: AsyncConnection, id_or_name: str, now: datetime, *, stop_callbacks: bool = False
) -> str | None:
    """Revokes the token and returns its id; None where none of that id or name is left to revoke.

    `stop_callbacks` ends the callbacks of its orders too, also of a token that was revoked before, by its id. Raises
    AmbiguousName where several unrevoked tokens share the name: the transaction must be rolled back then.
    """
    which = _unrevoked(id_or_name)
    changes = {"revoked_at": func.coalesce(tokens.c.revoked_at, literal(now, tokens.c.revoked_at.type))}
    if stop_callbacks:
        which = or_(which, (tokens.c.id == id_or_name) & tokens.c.callbacks_stopped_at.is_(None))
        changes["callbacks_stopped_at"] = func.coalesce(
            tokens.c.callbacks_stopped_at, literal(now, tokens.c.callbacks_stopped_at.type)
        )
    return await _one_id(connection, update(tokens).where(which).values(changes).returning(tokens.c.id), id_or_name)


async def find_id(connection: AsyncConnection, id_or_name: str) -> str | None:
    """The id of the token; None where no token has this id or name. A revoked one is found by its id alone.

    Raises AmbiguousName.
    """
    named = or_(tokens.c.id == id_or_name, _unrevoked(id_or_name))
    return await _one_id(connection, select(tokens.c.id).where(named), id_or_name)


async def limit(
    connection: AsyncConnection,
    id_or_name: str,
    max_active: int,
    max_active_per_account: int | None,
    rate_limit: int | None = None,
) -> str | None:
    """Sets the limits of an unrevoked token; returns its id, None where none has this id or name.

    Raises AmbiguousName, and ValueError for a limit out of bounds.
    """
    _check_limits(max_active, max_active_per_account, rate_limit)
    statement = (
        update(tokens)
        .where(_unrevoked(id_or_name))
        .values(max_active=max_active, max_active_per_account=max_active_per_account, rate_limit=rate_limit)
        .returning(tokens.c.id)
    )
    return await _one_id(connection, statement, id_or_name)


async def record_uses(connection: AsyncConnection, uses: Mapping[str, datetime]) -> None:
    """Records when the tokens of these ids were used; a later use that another process recorded stays."""
    at = bindparam("at", type_=tokens.c.last_used_at.type)
    earlier = or_(tokens.c.last_used_at.is_(None), tokens.c.last_used_at < at)
    statement = update(tokens).where(tokens.c.id == bindparam("of_token"), earlier).values(last_used_at=at)
    # one order for all writers, so that two of them never wait for each other's rows in a ring
    await connection.execute(statement, [{"of_token": token_id, "at": uses[token_id]} for token_id in sorted(uses)])


async def rotate_webhook_secret(
    connection: AsyncConnection, id_or_name: str, old_until: datetime | None
) -> tuple[str, str] | None:
    """Gives the token a new webhook secret; returns its id and the secret, None where no token has this id or name.

    The old secret signs too until `old_until`, or no longer where that is None, as after a leak. Only the latest of
    the old ones does. A revoked token is found by its id: its orders still have callbacks. Raises AmbiguousName.
    """
    token_id = await find_id(connection, id_or_name)
    if token_id is None:
        return None
    secret = new_webhook_secret()
    previous = tokens.c.webhook_secret if old_until is not None else None
    await connection.execute(
        update(tokens)
        .where(tokens.c.id == token_id)
        .values(webhook_secret=secret, previous_webhook_secret=previous, previous_webhook_secret_until=old_until)
    )
    return token_id, secret


def _unrevoked(id_or_name: str) -> ColumnElement[bool]:
    return or_(tokens.c.id == id_or_name, tokens.c.name == id_or_name) & tokens.c.revoked_at.is_(None)


async def _one_id(connection: AsyncConnection, statement: Executable, id_or_name: str) -> str | None:
    """The only id that the statement returns, None where it returns none; raises AmbiguousName for several."""
    ids = sorted((await connection.execute(statement)).scalars())
    if len(ids) > 1:
        raise AmbiguousName(id_or_name, ids)
    return ids[0] if ids else None


def _check(name: str, scopes: frozenset[str], expires_at: datetime | None, now: datetime) -> None:
    if not name.strip() or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise ValueError(f"a token's name has 1 to {MAX_NAME_CHARACTERS} printable characters")
    if name.startswith("tok_"):
        raise ValueError("a token's name must not begin with tok_: it would look like an id")
    if not scopes:
        raise ValueError(f"a token needs at least one scope of {', '.join(SCOPES)}")
    unknown = scopes - set(SCOPES)
    if unknown:
        raise ValueError(f"unknown scopes: {', '.join(sorted(unknown))}; there are {', '.join(SCOPES)}")
    if expires_at is not None and expires_at <= now:
        raise ValueError("the token would have expired already")


def _check_limits(max_active: int, max_active_per_account: int | None, rate_limit: int | None) -> None:
    for quota in (max_active, max_active_per_account):
        if quota is not None and not 1 <= quota <= MAX_ACTIVE:
            raise ValueError(f"a quota of active orders is 1 to {MAX_ACTIVE:,}")
    if rate_limit is not None and not 1 <= rate_limit <= MAX_RATE_LIMIT:
        raise ValueError(f"a rate limit is 1 to {MAX_RATE_LIMIT:,}")


def check_origins(origins: Sequence[str]) -> None:
    """Raises ValueError for too many, and for one that is not as browsers write it."""
    if len(origins) > MAX_ORIGINS:
        raise ValueError(f"a token has at most {MAX_ORIGINS} origins")
    for origin in origins:
        if len(origin) > MAX_ORIGIN_CHARACTERS or not _ORIGIN.fullmatch(origin) or _HAS_DEFAULT_PORT.search(origin):
            raise ValueError(
                f"{origin[:MAX_ORIGIN_CHARACTERS]!r} is no origin: write it as browsers send it, http:// or https:// "
                "and a host in lower case, with a port where it is not the usual one, and nothing after it"
            )


def _digest(plaintext: str) -> str:
    return hashlib.sha256(plaintext.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: Row[Any]) -> Token:
    values = {each.name: row._mapping[each.name] for each in fields(Token)}
    lists = {"scopes": frozenset(row.scopes.split()), "origins": tuple((row.origins or "").split())}
    return Token(**{**values, **lists})
