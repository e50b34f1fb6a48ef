"""Runs the doctor, and formats its findings for machines and for people."""

from collections.abc import Sequence
from contextlib import closing
from typing import Any

import click

from indexer.doctor.doctor import Doctor
from indexer.doctor.findings import Finding, Severity
from indexer.doctor.orders import Orders
from indexer.orders.database import OrdersDatabase
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.engine_errors import redacted_address
from mappings.platforms import Platform
from store.connection.settings import StoreSettings

CALL_SECONDS = 30.0


def diagnosed(
    platforms: Sequence[Platform], *, fix: bool, older_than: float, keep: int, without_orders: bool
) -> dict[str, Any]:
    """Looks, with `fix` repairs, and counts what is left; `older_than` in seconds."""
    settings = SearchSettings()
    with (
        closing(connect(settings, timeout=CALL_SECONDS, retries=1)) as client,
        OrdersDatabase(StoreSettings().database_url) as database,
    ):
        doctor = Doctor(
            client=client,
            address=redacted_address(settings),
            prefix_alias=settings.alias,
            definition=read_definition(),
            platforms=platforms,
            orders=None if without_orders else Orders(database),
            older_than=older_than,
            keep=keep,
        )
        findings = doctor.run(fix=fix, say=lambda text: click.echo(text, err=True))
    return {
        "errors": _left(findings, Severity.ERROR),
        "warnings": _left(findings, Severity.WARNING),
        "findings": [finding.as_json() for finding in findings],
    }


def _left(findings: Sequence[Finding], severity: Severity) -> int:
    return sum(finding.severity is severity and not finding.fixed for finding in findings)


def readable_findings(answer: dict[str, Any]) -> str:
    """The same for people: a sentence and a remedy each, and the sum."""
    lines = []
    for finding in answer["findings"]:
        if finding["fixed"]:
            lines.append(f"repaired  {finding['code']}: {finding['message']}")
        else:
            lines += [f"{finding['severity']}  {finding['code']}: {finding['message']}", f"    do: {finding['remedy']}"]
    repaired = sum(finding["fixed"] for finding in answer["findings"])
    sums = f"{answer['errors']} errors, {answer['warnings']} warnings, {repaired} repaired"
    return "\n".join([*lines, sums if lines else "nothing is wrong"])
