"""`gear-api forget`: erases the personal data of an account."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import AS_JSON, TEXT, checked, opened_store, record_command, run_now

if TYPE_CHECKING:
    from api.orders.erasure import Erasure
    from store.connection.engine import Store


@click.command()
@click.argument("account", required=False)
@click.option("--token", "names", multiple=True, help="Only orders of this token, by its id or name; repeat for more.")
@click.option("--every-token", is_flag=True, help="Orders of all tokens: the account is the same person for each.")
@click.option("--again", type=TEXT, help="After a restore: erase the orders whose ids this file lists.")
@AS_JSON
def forget(account: str | None, names: tuple[str, ...], every_token: bool, again: str | None, as_json: bool) -> None:
    """Erase the personal data of an account's orders: at once where an order is at its end.

    Active orders keep theirs until they end and lose them then by themselves. An account is each client's own
    reference: where several tokens have orders of it, say which are meant. `-` reads it from stdin, where no list of
    processes shows it.

    The orders' ids are appended to GEAR_ERASURE_LOG (beside an SQLite database by default): keep it apart from the
    backups. After one was restored, --again erases them again.

    Example: gear-api forget client-17 --token shop
    """
    from api.orders import erasure
    from store.connection.settings import StoreSettings
    from store.orders import privacy

    if names and every_token:
        raise click.UsageError("--token and --every-token exclude each other")
    if (account is None) is (again is None) or (again is not None and (names or every_token)):
        raise click.UsageError("name an account, or a file with --again and nothing else")
    if again is not None:
        order_ids = list(dict.fromkeys(line.strip() for line in again.splitlines() if line.strip()))
    account = sys.stdin.readline().rstrip("\r\n") if account == "-" else account
    if account == "":
        raise click.UsageError("the account is empty, as that of orders whose data are erased already: name one")
    file = checked(StoreSettings).erasure_log_path

    async def erase() -> erasure.Erasure:
        async with opened_store() as store:
            if account is None:
                await _record(store, {"again": len(order_ids)})
                return await erasure.forget_again(store, order_ids)
            async with store.reading() as connection:
                owners = await privacy.owners(connection, account)
            token_ids = _token_ids(owners, names, every_token)
            await _record(store, {"tokens": token_ids})
            return await erasure.forget_account(store, account, token_ids, lambda ids: _keep(ids, file))

    _report(run_now(erase()), is_logged=file is not None or again is not None, as_json=as_json)


async def _record(store: "Store", details: dict[str, Any]) -> None:
    """Records the command before its many transactions, and not whose data they are."""

    async with store.transaction() as connection:
        await record_command(connection, "account.forget", "account", details)


def _keep(order_ids: list[str], file: Path | None) -> None:
    """Appends the ids to the file; raises ClickException."""
    if file is None or not order_ids:
        return
    try:
        file.touch(0o600)
        with file.open("a+b") as handle:
            if handle.tell() and os.pread(handle.fileno(), 1, handle.tell() - 1) != b"\n":
                handle.write(b"\n")  # behind an id that was torn when the disk was full
            handle.write("".join(f"{order_id}\n" for order_id in order_ids).encode())
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        message = f"nothing more was erased: the ids cannot be kept in {file} ({error.strerror}); GEAR_ERASURE_LOG"
        raise click.ClickException(message) from None


def _report(erasure: "Erasure", *, is_logged: bool, as_json: bool) -> None:
    click.echo(f"erased the personal data of {len(erasure.erased)} orders", err=True)
    for order_id, state in erasure.waiting.items():
        click.echo(f"{order_id} is {state}: it keeps them until its end and loses them then by itself", err=True)
    if not is_logged:
        click.echo("set GEAR_ERASURE_LOG, or keep the ids of --json: a restored backup brings the data back", err=True)
    if not erasure.journal_emptied:
        click.echo(
            "a reader kept the write-ahead log, which still has them: PRAGMA wal_checkpoint(TRUNCATE) empties it",
            err=True,
        )
    if as_json:
        waiting = [{"id": order_id, "state": state} for order_id, state in erasure.waiting.items()]
        click.echo(json.dumps({"erased": erasure.erased, "waiting": waiting}))


def _token_ids(owners: dict[str, str], names: tuple[str, ...], every_token: bool) -> list[str]:
    """The ids of the selected tokens; raises ClickException where the selection is ambiguous."""
    if not owners:
        raise click.ClickException("no order is of this account, or its data are erased already")
    if not names:
        if len(owners) > 1 and not every_token:
            listed = ", ".join(f"{name} ({token_id})" for token_id, name in owners.items())
            message = f"several tokens have orders of this account: {listed}; add --token for each, or --every-token"
            raise click.ClickException(message)
        return list(owners)
    unknown = set(names) - set(owners) - set(owners.values())
    if unknown:
        raise click.ClickException(f"no order of this account is of a token {', '.join(sorted(unknown))}")
    return [token_id for token_id, name in owners.items() if token_id in names or name in names]
