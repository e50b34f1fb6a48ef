"""`gear-api audit`: who did what to orders and tokens."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from api.cli.context import opened_store, run_now, since_when
from mappings.timestamps import rfc3339

if TYPE_CHECKING:
    from store.audit import AuditEntry

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

    after = None
    async with opened_store() as store:
        while True:
            async with store.reading() as connection:  # each page by itself, so that no transaction lasts long
                page = await audit.entries(connection, begin, after, PAGE)
            for entry in page:
                shown = as_object(entry)
                if actor not in (None, shown["actor"], shown["actorName"]) or subject not in (None, entry.subject):
                    continue
                click.echo(json.dumps(shown, ensure_ascii=False) if as_json else as_line(shown))
            if len(page) < PAGE:
                return
            after = page[-1]


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
