"""`gear-api forget`: erases the personal data of an account."""

import json
import sys

import click

from api.cli.context import AS_JSON, opened_store, run_now


@click.command()
@click.argument("account")
@click.option("--token", "names", multiple=True, help="Only orders of this token, by its id or name; repeat for more.")
@click.option("--every-token", is_flag=True, help="Orders of all tokens: the account is the same person for each.")
@AS_JSON
def forget(account: str, names: tuple[str, ...], every_token: bool, as_json: bool) -> None:  # click passes by name
    """Erase the personal data of an account's orders: at once where an order is at its end.

    Active orders keep theirs until they end and lose them then by themselves. An account is each client's own
    reference: where several tokens have orders of it, say which are meant. `-` reads it from stdin, where no list of
    processes shows it.

    Example: gear-api forget client-17 --token shop
    """
    from store.orders import privacy

    if names and every_token:
        message = "--token and --every-token exclude each other"
        raise click.UsageError(message)

    account = sys.stdin.readline().rstrip("\r\n") if account == "-" else account
    if not account:
        message = "the account is empty, as that of orders whose data are erased already: name one"
        raise click.UsageError(message)

    async def erase() -> privacy.Erasure:
        async with opened_store() as store, store.transaction() as connection:
            owners = await privacy.owners(connection, account)
            return await privacy.forget(connection, account, _token_ids(owners, names, every_token))

    erasure = run_now(erase())
    click.echo(f"erased the personal data of {len(erasure.erased)} orders", err=True)
    for order_id, state in erasure.waiting.items():
        click.echo(f"{order_id} is {state}: it keeps them until its end and loses them then by itself", err=True)
    if as_json:
        waiting = [{"id": order_id, "state": state} for order_id, state in erasure.waiting.items()]
        click.echo(json.dumps({"erased": erasure.erased, "waiting": waiting}))


def _token_ids(owners: dict[str, str], names: tuple[str, ...], every_token: bool) -> list[str]:
    """The ids of the selected tokens; raises ClickException where the selection is ambiguous."""
    if not owners:
        message = "no order is of this account, or its data are erased already"
        raise click.ClickException(message)
    if not names:
        if len(owners) > 1 and not every_token:
            listed = ", ".join(f"{name} ({token_id})" for token_id, name in owners.items())
            message = f"several tokens have orders of this account: {listed}; add --token for each, or --every-token"
            raise click.ClickException(message)
        return list(owners)
    unknown = set(names) - set(owners) - set(owners.values())
    if unknown:
        message = f"no order of this account is of a token {', '.join(sorted(unknown))}"
        raise click.ClickException(message)
    return [token_id for token_id, name in owners.items() if token_id in names or name in names]
