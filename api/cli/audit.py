"""`gear-api audit`: who did what to orders and tokens."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import opened_store, run_now, since_when
from mappings.timestamps import rfc3339

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from store.audit import AuditEntry
    from store.connection.engine import Store

    Read = Callable[[AsyncConnection, datetime, AuditEntry | None, int], Awaitable[list[AuditEntry]]]

PAGE = 1000


@click.command()
@click.option(
    "--since", "begin", required=True, callback=since_when, help="A time with its zone, or a duration such as 36h."
)
@click.option("--actor", help="Only what this one did: a token's id or name, `system`, or `command`.")
@click.option("--subject", help="Only what was done to this order or token, by its id.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def audit(begin: datetime, actor: str | None, subject: str | None, as_json: bool) -> None:
    """Print what was done to orders and tokens, oldest first, and who did it: a token, the service or a command's user.

    Example: gear-api audit --since 24h
    """
    run_now(_print(begin, actor, subject, as_json=as_json))


async def _print(begin: datetime, actor: str | None, subject: str | None, *, as_json: bool) -> None:
    from store import audit

    async with opened_store() as store:
        streams = [_entries(store, read, begin) for read in (audit.commands, audit.changes)]
        async for entry in merged(*streams):
            shown = as_object(entry)
            if actor not in (None, shown["actor"], shown["actorName"]) or subject not in (None, entry.subject):
                continue
            click.echo(json.dumps(shown, ensure_ascii=False) if as_json else as_line(shown))


def as_object(entry: "AuditEntry") -> dict[str, Any]:
    return {
        "at": rfc3339(entry.at),
        "actor": entry.actor.id if entry.actor else None,
        "actorName": entry.actor.name if entry.actor else None,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
    }


def as_line(shown: dict[str, Any]) -> str:
    name = f" ({shown['actorName']})" if shown["actorName"] else ""
    details = "  ".join(f"{key}={value}" for key, value in shown["details"].items() if value is not None)
    return (
        f"{shown['at']}  {shown['actor'] or 'unknown'}{name}  {shown['action']}  {shown['subject']}  {details}".rstrip()
    )


async def _entries(store: "Store", read: "Read", begin: datetime) -> AsyncIterator["AuditEntry"]:
    """All entries, each page in a transaction of its own, so that none lasts long."""
    after = None
    while True:
        async with store.reading() as connection:
            page = await read(connection, begin, after, PAGE)
        for entry in page:
            yield entry
        if len(page) < PAGE:
            return
        after = page[-1]


async def merged(*streams: AsyncIterator["AuditEntry"]) -> AsyncIterator["AuditEntry"]:
    """The entries of several ascending streams, ascending."""
    heads = {stream: await anext(stream, None) for stream in streams}
    while present := {stream: entry for stream, entry in heads.items() if entry is not None}:
        stream, entry = min(present.items(), key=lambda head: head[1].at)
        yield entry
        heads[stream] = await anext(stream, None)
