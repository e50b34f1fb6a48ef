"""`gear-api doctor`: unsafe settings."""

import json
from typing import TYPE_CHECKING

import click

from api.cli.context import AS_JSON, checked, read_now

if TYPE_CHECKING:
    from api.settings import Settings

PRODUCTION = click.option("--production", is_flag=True, help="Refuse to start with an unsafe setting.")


@click.command()
@click.option("--production", is_flag=True, help="Exit with 1 where something is unsafe.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that serve.")
@AS_JSON
def doctor(production: bool, workers: int, as_json: bool) -> None:
    """List settings that are unsafe in production, and what to do about each.

    It reads the settings, the modes of files and the database; serve and deliver log the same of the settings at
    their start, and refuse to start with --production. gear-indexer doctor checks the index.

    Example: gear-api doctor --production
    """
    from api.settings import Settings
    from api.unsafe_settings import UnsafeSetting, unsafe_settings
    from store import database

    settings = checked(Settings)
    findings = list(unsafe_settings(settings, workers))
    if settings.cipher is not None and (count := read_now(database.count_plain)):
        message = f"{count} rows were written without keys, and are in clear"
        findings.append(UnsafeSetting("values-plain", "GEAR_ENCRYPTION_KEYRING", message, "gear-api encryption rotate"))
    if as_json:
        click.echo(json.dumps({"findings": [vars(finding) for finding in findings]}))
    else:
        for finding in findings:
            click.echo(f"{finding.code}  {finding.setting}: {finding.message}\n    {finding.remedy}")
    click.echo(f"{len(findings)} unsafe settings" if findings else "no unsafe setting", err=True)
    if findings and production:
        raise click.exceptions.Exit(1)


def check_settings(settings: "Settings", *, production: bool, workers: int = 1) -> None:
    """Logs each unsafe setting; raises ClickException for them in production."""
    from api.log import log
    from api.unsafe_settings import unsafe_settings

    findings = list(unsafe_settings(settings, workers))
    for finding in findings:
        log.warning("unsafe setting", **vars(finding))
    if findings and production:
        codes = ", ".join(finding.code for finding in findings)
        raise click.ClickException(f"unsafe in production: {codes}; gear-api doctor says what to do")
