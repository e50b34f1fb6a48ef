"""`gear-api encryption`: keys of what is encrypted in the database."""

import json
import time

import click

from api.cli.context import AS_JSON, checked, opened_store, record_command, run_now

BATCH = 200  # rows in one transaction


@click.group()
def encryption() -> None:
    """Make and rotate the keys that encrypt secrets and personal data in the database.

    The first key in GEAR_ENCRYPTION_KEYRING encrypts, each of them decrypts.

    Example: gear-api encryption key > keys.txt
    """


@encryption.command()
def key() -> None:
    """Print a new key, a line for GEAR_ENCRYPTION_KEYRING.

    Example: (umask 077 && gear-api encryption key > keys.txt)
    """
    from store.connection.encryption import new_key

    click.echo(new_key())


@encryption.command()
@AS_JSON
def rotate(as_json: bool) -> None:
    """Encrypt everything anew with the first key: after one was put first, or to encrypt what is not.

    Afterwards the other keys decrypt nothing but backups. Safe to run while the service runs, and again.

    Example: gear-api encryption rotate
    """
    from store.connection.settings import StoreSettings

    if checked(StoreSettings).cipher is None:
        raise click.ClickException("GEAR_ENCRYPTION_KEYRING is not set; gear-api encryption key makes a key for it")
    counts = run_now(encrypt_anew())
    click.echo(f"encrypted anew: {', '.join(f'{count} {table}' for table, count in counts.items())}", err=True)
    if as_json:
        click.echo(json.dumps(counts))


async def encrypt_anew(rows: int = BATCH) -> dict[str, int]:
    """Encrypts everything with the first key, so many rows in one transaction; the number of rows by table."""
    from api.background.workers import give_way
    from store import database

    counts = {table.name: 0 for table in database.TABLES}
    recorded = False
    async with opened_store() as store:
        for table in database.TABLES:
            after: str | None = ""
            while after is not None:
                async with store.transaction() as connection:
                    started = time.monotonic()
                    count, after = await database.reencrypt(connection, table, after, rows)
                    if count and not recorded:  # with the first of its changes
                        await record_command(connection, "encryption.rotate", "database")
                recorded = recorded or count > 0
                counts[table.name] += count
                await give_way(started)
        await store.empty_journal()  # it holds what was not encrypted
    return counts
