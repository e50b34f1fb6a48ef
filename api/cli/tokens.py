"""Commands for tokens: created, listed, limited and revoked."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import AS_JSON, command_actor, duration, opened_store, run_now

if TYPE_CHECKING:
    from store.auth.tokens import Token

SCOPES = ("search", "order", "fulfil", "metrics")
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
@AS_JSON
def create_token(
    name: str,
    scopes: tuple[str, ...],
    sandbox: bool,
    expires: timedelta | None,
    max_active: int,
    max_active_per_account: int | None,
    as_json: bool,
) -> None:  # click passes flags by name
    """Create a token and print its two secrets, which are shown only once.

    Example: gear-api token create --name shop --scope search --scope order --expires 90d --json
    """
    from store import audit
    from store.auth import tokens

    now = datetime.now(UTC)

    async def create() -> tokens.CreatedToken:
        async with opened_store() as store, store.transaction() as connection:
            until = None if expires is None else now + expires
            created = await tokens.create(
                connection,
                name,
                scopes,
                sandbox,
                until,
                now,
                max_active=max_active,
                max_active_per_account=max_active_per_account,
            )
            details = _describe(created.token)
            await audit.record(connection, command_actor(), "token.create", created.token.id, now, details)
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
        click.echo(f"{key}: {' '.join(value) if isinstance(value, list) else value}")
    click.echo("keep both secrets: they are not shown again", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_tokens(as_json: bool) -> None:  # click passes flags by name
    """List the tokens, without their secrets.

    Example: gear-api token list
    """
    from store.auth import tokens

    async def find() -> list[tokens.Token]:
        async with opened_store() as store, store.reading() as connection:
            return await tokens.list_all(connection)

    shown = [{"id": token.id, **_describe(token)} for token in run_now(find())]
    if as_json:
        click.echo(json.dumps(shown))
        return
    for entry in shown:
        state = "revoked" if entry["revokedAt"] else f"expires {entry['expiresAt'] or 'never'}"
        click.echo(f"{entry['id']}  {entry['name']}  {' '.join(entry['scopes'])}  {state}")


@token.command("limit")
@click.argument("token_id_or_name")
@MAX_ACTIVE
@MAX_ACTIVE_PER_ACCOUNT
@AS_JSON
def limit_token(token_id_or_name: str, max_active: int, max_active_per_account: int | None, as_json: bool) -> None:
    """Set both quotas of a token's orders; what it has ordered already stays.

    Example: gear-api token limit shop --max-active 5000 --max-active-per-account 20
    """
    from store import audit
    from store.auth import tokens

    async def change() -> str | None:
        async with opened_store() as store, store.transaction() as connection:
            token_id = await tokens.limit(connection, token_id_or_name, max_active, max_active_per_account)
            if token_id is not None:
                details = {"maxActive": max_active, "maxActivePerAccount": max_active_per_account}
                await audit.record(connection, command_actor(), "token.limit", token_id, datetime.now(UTC), details)
            return token_id

    token_id = run_now(change())
    if token_id is None:
        raise _unknown(token_id_or_name)
    shown = {"id": token_id, "maxActive": max_active, "maxActivePerAccount": max_active_per_account}
    click.echo(json.dumps(shown) if as_json else f"{token_id}: at most {max_active} active orders")


@token.command("revoke")
@click.argument("token_id_or_name")
@click.option("--stop-callbacks", is_flag=True, help="Send no more callbacks of its orders, now and later.")
@AS_JSON
def revoke_token(token_id_or_name: str, stop_callbacks: bool, as_json: bool) -> None:  # click passes flags by name
    """Revoke a token by its id or name; every worker refuses it within 5 seconds.

    Its orders go on and so do their callbacks, unless they are stopped, also later, by the id of the revoked token.

    Example: gear-api token revoke shop --stop-callbacks
    """
    from store import audit
    from store.auth import tokens

    async def revoke() -> str | None:
        async with opened_store() as store, store.transaction() as connection:
            now = datetime.now(UTC)
            token_id = await tokens.revoke(connection, token_id_or_name, now, stop_callbacks=stop_callbacks)
            if token_id is not None:
                details = {"callbacksStopped": stop_callbacks}
                await audit.record(connection, command_actor(), "token.revoke", token_id, now, details)
            return token_id

    if run_now(revoke()) is None:
        raise _unknown(token_id_or_name)
    click.echo(f"revoked {token_id_or_name}", err=True)
    if as_json:
        click.echo(json.dumps({"revoked": token_id_or_name, "callbacksStopped": stop_callbacks}))


def _unknown(token_id_or_name: str) -> click.ClickException:
    return click.ClickException(f"no usable token has the id or name {token_id_or_name!r}; see gear-api token list")


def _describe(token: "Token") -> dict[str, Any]:
    def timestamp(at: datetime | None) -> str | None:
        return None if at is None else at.isoformat()

    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "sandbox": token.sandbox,
        "createdAt": timestamp(token.created_at),
        "expiresAt": timestamp(token.expires_at),
        "revokedAt": timestamp(token.revoked_at),
        "maxActive": token.max_active,
        "maxActivePerAccount": token.max_active_per_account,
    }
