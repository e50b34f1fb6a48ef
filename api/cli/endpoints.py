"""Commands for registered endpoints of callbacks."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from api.cli.context import AS_JSON, checked, duration, opened_store, read_now, record_command, run_now, unknown_token
from mappings.timestamps import rfc3339

if TYPE_CHECKING:
    from store.endpoints import Endpoint

KEEP = click.option(
    "--keep", default="24h", show_default=True, callback=duration, help="How long the old secret signs too."
)
AT_ONCE = click.option("--at-once", is_flag=True, help="The old secret signs no more: it has leaked.")


@click.group()
def endpoint() -> None:
    """Register where a token's callbacks may go, each endpoint with a secret of its own.

    A token with endpoints sends callbacks to them alone: an order with another callbackUrl is refused, and events of
    earlier orders with another one are not sent. A token without endpoints sends them anywhere, signed with its own
    secret.

    Example: gear-api webhook endpoint add shop https://shop.example.com/hooks
    """


@endpoint.command()
@click.argument("token_id_or_name")
@click.argument("url")
@click.option("--exact", is_flag=True, help="This URL alone, not what is below its path.")
@AS_JSON
def add(token_id_or_name: str, url: str, exact: bool, as_json: bool) -> None:
    """Register an endpoint for a token and print its secret, the only time that it is shown.

    It covers URL and everything below its path, with any query.

    Example: gear-api webhook endpoint add shop https://shop.example.com/hooks
    """
    from api.settings import Settings
    from api.webhooks.addresses import url_problem
    from store import endpoints
    from store.auth import tokens

    problem = url_problem(url, allow_insecure=checked(Settings).allow_insecure_callbacks)
    if problem is None and not exact and ("?" in url or "#" in url):
        problem = "must have neither a query nor a fragment, unless it is --exact"
    if problem is not None:
        raise click.ClickException(f"the URL {problem}")

    async def register() -> endpoints.Endpoint | None:
        async with opened_store() as store, store.transaction() as connection:
            token_id = await tokens.find_id(connection, token_id_or_name)
            if token_id is None:
                return None
            added = await endpoints.add(connection, token_id, url, exact=exact, now=datetime.now(UTC))
            await record_command(connection, "endpoint.add", added.id, {"token": token_id})
            return added

    added = run_now(register())
    if added is None:
        raise unknown_token(token_id_or_name)
    show_secret({**_describe(added), "webhookSecret": added.secret}, as_json=as_json)


@endpoint.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def list_endpoints(as_json: bool) -> None:
    """List the endpoints of all tokens, without their secrets.

    Example: gear-api webhook endpoint list
    """
    from store import endpoints

    shown = [_describe(registered) for registered in read_now(endpoints.list_all)]
    if as_json:
        click.echo(json.dumps(shown))
        return
    for entry in shown:
        click.echo(f"{entry['id']}  {entry['token']}  {entry['url']}{'  exact' if entry['exact'] else ''}")


@endpoint.command()
@click.argument("endpoint_id")
@AS_JSON
def remove(endpoint_id: str, as_json: bool) -> None:
    """Remove an endpoint: while the token has others, nothing goes there any more.

    Example: gear-api webhook endpoint remove ep_3p9nAq0Zt7LwK2sV
    """
    from store import endpoints

    async def delete() -> bool:
        async with opened_store() as store, store.transaction() as connection:
            removed = await endpoints.remove(connection, endpoint_id)
            if removed:
                await record_command(connection, "endpoint.remove", endpoint_id)
            return removed

    if not run_now(delete()):
        raise _unknown(endpoint_id)
    click.echo(f"removed {endpoint_id}", err=True)
    if as_json:
        click.echo(json.dumps({"removed": endpoint_id}))


@endpoint.command()
@click.argument("endpoint_id")
@KEEP
@AT_ONCE
@AS_JSON
def rotate(endpoint_id: str, keep: timedelta, at_once: bool, as_json: bool) -> None:
    """Give an endpoint a new secret and print it, the only time that it is shown.

    Example: gear-api webhook endpoint rotate ep_3p9nAq0Zt7LwK2sV --keep 24h
    """
    from store import endpoints

    until = None if at_once else datetime.now(UTC) + keep
    details = {"previousValidUntil": rfc3339(until) if until else None}

    async def change() -> str | None:
        async with opened_store() as store, store.transaction() as connection:
            secret = await endpoints.rotate(connection, endpoint_id, until)
            if secret is not None:
                await record_command(connection, "endpoint.rotate", endpoint_id, details)
            return secret

    secret = run_now(change())
    if secret is None:
        raise _unknown(endpoint_id)
    show_secret({"id": endpoint_id, "webhookSecret": secret, **details}, as_json=as_json)


def show_secret(shown: dict[str, object], *, as_json: bool) -> None:
    click.echo(json.dumps(shown) if as_json else "\n".join(f"{key}: {value}" for key, value in shown.items()))
    click.echo("keep the secret: it is not shown again", err=True)


def _describe(entry: "Endpoint") -> dict[str, object]:
    return {
        "id": entry.id,
        "token": entry.token_id,
        "url": entry.url,
        "exact": entry.exact,
        "createdAt": rfc3339(entry.created_at),
    }


def _unknown(endpoint_id: str) -> click.ClickException:
    return click.ClickException(f"no endpoint has the id {endpoint_id!r}; see gear-api webhook endpoint list")
