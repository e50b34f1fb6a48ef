"""Commands for callbacks: a dispatcher, secrets, redelivery, and verification for receivers."""

import asyncio
import json
import signal
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import click

from api.cli.context import (
    AS_JSON,
    TEXT,
    Content,
    checked,
    opened_store,
    read_now,
    record_command,
    run_now,
    since_when,
    token_named,
    unknown_token,
)
from api.cli.doctor import PRODUCTION, check_settings
from api.cli.endpoints import AT_ONCE, KEEP, endpoint, show_secret
from mappings.timestamps import rfc3339

if TYPE_CHECKING:
    from api.settings import Settings
    from mappings.platforms import Platforms

RECOVER_BATCH = 200  # orders in one transaction, which lasts 30 seconds at most


@click.command()
@PRODUCTION
def deliver(production: bool) -> None:
    """Send callbacks until it is stopped (SIGTERM, SIGINT), beside the serving processes or instead of them.

    Any number may run: they share the work. Callbacks name the order's page, so GEAR_PUBLIC_URL must be set.
    With GEAR_DELIVER_CALLBACKS=false the serving processes send none.

    Example: gear-api deliver
    """
    from api.settings import Settings
    from api.telemetry import logs
    from mappings.platforms import read_platforms

    settings = checked(Settings)
    platforms = checked(lambda: read_platforms(settings.platform_files))
    if not settings.public_url_is_set:
        raise click.ClickException("GEAR_PUBLIC_URL is not set: callbacks name the order's page below it")
    logs.configure()
    check_settings(settings, production=production)
    click.echo("sending callbacks until stopped", err=True)
    asyncio.run(_deliver(settings, platforms))


async def _deliver(settings: "Settings", platforms: "Platforms") -> None:
    from api.background.tasks import StopDeadline
    from api.background.workers import running
    from api.orders.responses import order_entry
    from api.telemetry import tracing
    from api.webhooks.dispatcher import dispatching
    from store.connection.engine import Store

    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    store = Store(settings.database_url, connections=settings.database_pool_size, cipher=settings.cipher)
    entries = partial(order_entry, platforms=platforms, public_url=settings.public_url)
    stop = StopDeadline()
    try:
        async with (
            tracing.exporting(settings, store) as trace_configs,
            dispatching(store, entries, settings, stop, trace_configs) as dispatcher,
            running(dispatcher.worker, stop=stop),
        ):
            await stopped.wait()
    finally:
        await store.close()


@click.group()
def webhook() -> None:
    """Register endpoints, rotate secrets, send callbacks again, and verify received ones.

    Example: gear-api webhook recover --token shop --since 36h
    """


webhook.add_command(endpoint)


@webhook.command()
@click.argument("token_id_or_name")
@KEEP
@AT_ONCE
@AS_JSON
def rotate(token_id_or_name: str, keep: timedelta, at_once: bool, as_json: bool) -> None:
    """Give a token a new webhook secret and print it, the only time that it is shown.

    Example: gear-api webhook rotate shop --keep 24h
    """
    from store.auth import tokens

    until = None if at_once else datetime.now(UTC) + keep
    details = {"previousValidUntil": rfc3339(until) if until else None}

    async def change() -> tuple[str, str] | None:
        async with opened_store() as store, store.transaction() as connection:
            rotated = await tokens.rotate_webhook_secret(connection, token_id_or_name, until)
            if rotated is not None:
                await record_command(connection, "webhook.rotate", rotated[0], details)
            return rotated

    changed = run_now(change())
    if changed is None:
        raise unknown_token(token_id_or_name)
    show_secret({"id": changed[0], "webhookSecret": changed[1], **details}, as_json=as_json)


@webhook.command()
@click.option("--token", "token_id_or_name", required=True, help="Whose callbacks, by the token's id or name.")
@click.option("--since", required=True, callback=since_when, help="A time with its zone, or a duration such as 36h.")
@AS_JSON
def recover(token_id_or_name: str, since: datetime, as_json: bool) -> None:
    """Send everything again at once that was tried since a time and has not been delivered.

    Example: gear-api webhook recover --token shop --since 2026-03-01T12:00:00Z
    """
    count = run_now(recover_all(token_id_or_name, since))
    click.echo(f"{count} callbacks are sent again", err=True)
    if as_json:
        click.echo(json.dumps({"recovered": count, "since": rfc3339(since)}))


async def recover_all(token_id_or_name: str, since: datetime, batch: int = RECOVER_BATCH) -> int:
    """Sends undelivered callbacks again, in transactions of so many orders; returns their number."""
    from store.outbox import redelivery

    async with opened_store() as store:
        token = await token_named(store, token_id_or_name)
        total, after = 0, ""
        while True:
            async with store.transaction() as connection:
                now = datetime.now(UTC)
                count, following = await redelivery.recover(connection, token.id, since, after, batch, now)
                details = {"since": rfc3339(since), "callbacks": count}
                await record_command(connection, "webhook.recover", token.id, details)
            total += count
            if following is None:
                return total
            after = following


@webhook.command()
@AS_JSON
def backlog(as_json: bool) -> None:
    """Show how many callbacks are overdue, without those that wait for a retry.

    Example: gear-api webhook backlog
    """
    from store.outbox import deliveries

    overdue, oldest = read_now(lambda connection: deliveries.overdue(connection, datetime.now(UTC)))
    shown = {"overdue": overdue, "oldestSince": rfc3339(oldest) if oldest else None}
    since = f", the oldest since {shown['oldestSince']}" if oldest else ""
    click.echo(json.dumps(shown) if as_json else f"{overdue} overdue{since}")


@webhook.command()
@click.argument("body", type=Content("rb"))
@click.option("--secret-file", "secret", required=True, type=TEXT, help="Holds whsec_….")
@click.option("--header", "-H", "lines", multiple=True, help="One header as 'name: value'; as often as needed.")
@click.option("--headers", type=TEXT, help="File of headers, one 'name: value' a line.")
@click.option("--any-age", is_flag=True, help="Accept a callback that was sent long ago.")
@AS_JSON
def verify(body: bytes, secret: str, lines: tuple[str, ...], headers: str | None, any_age: bool, as_json: bool) -> None:
    """Verify a received callback, BODY byte for byte as received, and explain what is wrong with it.

    Example: gear-api webhook verify body.json --headers headers.txt --secret-file secret.txt
    """
    from api.webhooks.verification import TOLERANCE, problem

    named = {
        name: value for name, _, value in (line.partition(":") for line in (*lines, *(headers or "").splitlines()))
    }
    fault = problem(secret.strip(), named, body, datetime.now(UTC), None if any_age else TOLERANCE)
    if as_json:
        click.echo(json.dumps({"verified": fault is None, "problem": fault}))
    if fault is not None:
        raise click.ClickException(fault)
    click.echo("verified: it was sent by this service and not altered", err=True)
