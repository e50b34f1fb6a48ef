"""Commands for orders: cancels many at once."""

import json
from datetime import UTC, datetime

import click

from api.cli.context import AS_JSON, command_actor, opened_store, run_now, token_named

BATCH = 100  # orders in one transaction: SQLite's lock is free again in well under a second


def _reason(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from api.orders.schemas import MAX_REASON_CHARACTERS

    if len(value) > MAX_REASON_CHARACTERS:
        raise click.BadParameter(f"it is longer than {MAX_REASON_CHARACTERS} characters")
    return value


@click.group()
def orders() -> None:
    """Cancel orders.

    Example: gear-api orders cancel --token shop --state created
    """


@orders.command()
@click.option("--token", "token_id_or_name", required=True, help="Whose orders, by the token's id or name.")
@click.option(
    "--state",
    type=click.Choice(("created", "processing")),
    default="created",
    show_default=True,
    help="Only orders that are in it.",
)
@click.option("--account", help="Only orders of this reference.")
@click.option(
    "--reason",
    default="cancelled in bulk",
    show_default=True,
    callback=_reason,
    help="For the history of each order.",
)
@click.option("--yes", is_flag=True, help="Cancel them; without it they are only counted.")
@AS_JSON
def cancel(token_id_or_name: str, state: str, account: str | None, reason: str, yes: bool, as_json: bool) -> None:
    """Count the orders of a token in one state, or cancel them and release their items.

    Each is moved as by a transition: with an event, a callback, and only if it is still in that state.

    Example: gear-api orders cancel --token shop --state created --yes
    """
    number = run_now(_cancel(token_id_or_name, state, account, reason, yes=yes))
    done = f"cancelled {number} orders" if yes else f"{number} orders would be cancelled: add --yes"
    click.echo(done, err=True)
    if as_json:
        click.echo(json.dumps({"cancelled": number if yes else 0, "matching": number, "dryRun": not yes}))


async def _cancel(token_id_or_name: str, state: str, account: str | None, reason: str, *, yes: bool) -> int:
    from store.orders import batches

    async with opened_store() as store:
        token_id = (await token_named(store, token_id_or_name)).id
        if not yes:
            async with store.reading() as connection:
                return await batches.count(connection, token_id, state, account)
        # only those placed until now, or a client that goes on ordering would keep this going
        began, total = datetime.now(UTC), 0
        while True:
            async with store.transaction() as connection:
                number = await batches.cancel(
                    connection,
                    token_id,
                    state,
                    account,
                    reason,
                    datetime.now(UTC),
                    placed_before=began,
                    limit=BATCH,
                    actor=command_actor(),
                )
            if number is None:
                return total
            total += number
