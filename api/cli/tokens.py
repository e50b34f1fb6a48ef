"""Commands for tokens: created, listed, limited and revoked."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import AS_JSON, duration, opened_store, read_now, record_command, run_now, unknown_token
from mappings.timestamps import rfc3339
from store.auth.scopes import SCOPES

if TYPE_CHECKING:
    from store.auth.tokens import Token

MAX_ACTIVE = click.option(
    "--max-active",
    type=click.IntRange(1, 1_000_000),
    default=1000,
    show_default=True,
    help="Orders that may be created or processing at once.",
)
MAX_ACTIVE_PER_ACCOUNT = click.option(
    "--max-active-per-account", type=click.IntRange(1, 1_000_000), help="The same for each account; default: no bound."
)


RATE_LIMIT = click.option(
    "--rate-limit",
    type=click.IntRange(1, 1_000_000),
    help="What its requests may cost, in the time of GEAR_RATE_LIMIT; default: as all tokens.",
)


def _filters(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Checks the filters as a search does; raises BadParameter."""
    if value is None:
        return None
    from api.errors import ApiError
    from api.search.forced_filters import read_filters
    from api.search.query.request import filter_clauses

    try:
        clauses = filter_clauses(read_filters(value), minor_digits=2)
    except ApiError as error:
        details = "; ".join(f"{detail.field}: {detail.message}" for detail in error.details)
        raise click.BadParameter(details or error.message) from None
    if not clauses:
        raise click.BadParameter("it filters nothing")
    return value.strip()


def _origins(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    from store.auth.tokens import check_origins

    try:
        check_origins(values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return values


@click.group()
def token() -> None:
    """Create, list, limit and revoke bearer tokens.

    Example: gear-api token create --name shop --scope search --scope order
    """


@token.command("create")
@click.option("--name", required=True, help="Whose token it is.")
@click.option("--scope", "scopes", multiple=True, required=True, type=click.Choice(SCOPES), help="What it may do.")
@click.option("--sandbox", is_flag=True, help="Its orders touch no real item.")
@click.option("--expires", callback=duration, help="How long it is valid, such as 90d; default: for ever.")
@MAX_ACTIVE
@MAX_ACTIVE_PER_ACCOUNT
@RATE_LIMIT
@click.option(
    "--filter",
    "filters",
    callback=_filters,
    metavar="JSON",
    help="`filters` of a search, forced on all that it reads; only with the scope search alone.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    callback=_origins,
    metavar="URL",
    help="Web pages that may use it, such as https://shop.example; repeat for more. Pages of others are refused.",
)
@AS_JSON
def create_token(
    name: str, scopes: tuple[str, ...], sandbox: bool, expires: timedelta | None, as_json: bool, **restrictions: Any
) -> None:
    """Create a token and print its two secrets, which are shown only once.

    Example: gear-api token create --name shop --scope search --scope order --expires 90d --json
    """
    from store.auth import tokens

    now = datetime.now(UTC)

    async def create() -> tokens.CreatedToken:
        async with opened_store() as store, store.transaction() as connection:
            expires_at = None if expires is None else now + expires
            created = await tokens.create(connection, name, scopes, sandbox, expires_at, now, **restrictions)
            await record_command(connection, "token.create", created.token.id, _describe(created.token))
            return created

    created = run_now(create())
    shown = {
        "id": created.token.id,
        "token": created.plaintext,
        "webhookSecret": created.token.webhook_secret,
        **_describe(created.token),
    }
    if as_json:
        click.echo(json.dumps(shown))
        return
    for key, value in shown.items():
        text = " ".join(value) if isinstance(value, list) else json.dumps(value) if isinstance(value, dict) else value
        click.echo(f"{key}: {text}")
    click.echo("keep both secrets: they are not shown again", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_tokens(as_json: bool) -> None:
    """List the tokens, without their secrets.

    Example: gear-api token list
    """
    from store.auth import tokens

    shown = [{"id": token.id, **_describe(token)} for token in read_now(tokens.list_all)]
    if as_json:
        click.echo(json.dumps(shown))
        return
    for entry in shown:
        state = "revoked" if entry["revokedAt"] else f"expires {entry['expiresAt'] or 'never'}"
        used = f"used {entry['lastUsedAt'] or 'never'}"
        limits = [f"{name} {text}" for name, text in _restrictions(entry).items()]
        sandbox = ["sandbox"] if entry["sandbox"] else []
        click.echo("  ".join([entry["id"], entry["name"], " ".join(entry["scopes"]), *sandbox, state, used, *limits]))


@token.command("limit")
@click.argument("token_id_or_name")
@MAX_ACTIVE
@MAX_ACTIVE_PER_ACCOUNT
@RATE_LIMIT
@AS_JSON
def limit_token(
    token_id_or_name: str, max_active: int, max_active_per_account: int | None, rate_limit: int | None, as_json: bool
) -> None:
    """Set all limits of a token, those that are left out to their defaults; what it has ordered already stays.

    Example: gear-api token limit shop --max-active 5000 --max-active-per-account 20 --rate-limit 500
    """
    from store.auth import tokens

    limits = {"maxActive": max_active, "maxActivePerAccount": max_active_per_account, "rateLimit": rate_limit}

    async def change() -> str | None:
        async with opened_store() as store, store.transaction() as connection:
            token_id = await tokens.limit(connection, token_id_or_name, max_active, max_active_per_account, rate_limit)
            if token_id is not None:
                await record_command(connection, "token.limit", token_id, limits)
            return token_id

    token_id = run_now(change())
    if token_id is None:
        raise unknown_token(token_id_or_name)
    click.echo(json.dumps({"id": token_id, **limits}) if as_json else f"{token_id}: at most {max_active} active orders")


@token.command("revoke")
@click.argument("token_id_or_name")
@click.option("--stop-callbacks", is_flag=True, help="Send no more callbacks of its orders, now and later.")
@AS_JSON
def revoke_token(token_id_or_name: str, stop_callbacks: bool, as_json: bool) -> None:
    """Revoke a token by its id or name; every worker refuses it within 5 seconds.

    Its orders go on and so do their callbacks, unless they are stopped, also later, by the id of the revoked token.

    Example: gear-api token revoke shop --stop-callbacks
    """
    from store.auth import tokens

    async def revoke() -> str | None:
        async with opened_store() as store, store.transaction() as connection:
            now = datetime.now(UTC)
            token_id = await tokens.revoke(connection, token_id_or_name, now, stop_callbacks=stop_callbacks)
            if token_id is not None:
                await record_command(connection, "token.revoke", token_id, {"callbacksStopped": stop_callbacks})
            return token_id

    if run_now(revoke()) is None:
        raise unknown_token(token_id_or_name)
    click.echo(f"revoked {token_id_or_name}", err=True)
    if as_json:
        click.echo(json.dumps({"revoked": token_id_or_name, "callbacksStopped": stop_callbacks}))


def _restrictions(entry: dict[str, Any]) -> dict[str, str]:
    """What a described token is restricted to, for people."""
    shown = {
        "rate limit": entry["rateLimit"] and str(entry["rateLimit"]),
        "filter": entry["filters"] and json.dumps(entry["filters"], ensure_ascii=False),
        "origins": " ".join(entry["origins"]),
    }
    return {name: text for name, text in shown.items() if text}


def _describe(token: "Token") -> dict[str, Any]:
    def timestamp(at: datetime | None) -> str | None:
        return None if at is None else rfc3339(at)

    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "sandbox": token.sandbox,
        "createdAt": timestamp(token.created_at),
        "expiresAt": timestamp(token.expires_at),
        "revokedAt": timestamp(token.revoked_at),
        "maxActive": token.max_active,
        "maxActivePerAccount": token.max_active_per_account,
        "rateLimit": token.rate_limit,
        "filters": None if token.filters is None else json.loads(token.filters),
        "origins": list(token.origins),
        "lastUsedAt": timestamp(token.last_used_at),
    }
