"""Runs the commands that look after an index: status, rollback, prune and doctor."""

import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from typing import Any

import click

from indexer.cli.context import Interruption, all_indices, command_result, index_of, platform_command, say
from indexer.doctor.doctor import Doctor
from indexer.doctor.findings import Finding, Severity, load_command
from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError
from indexer.maintenance.prune import prune
from indexer.maintenance.rollback import Rollback
from indexer.maintenance.status import status
from indexer.orders.database import OrdersDatabase
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from store.connection.settings import StoreSettings

ORDERS_RETRY_SECONDS = 3.0  # for the database of orders: somebody waits for a rollback
DOCTOR_CALL_SECONDS = 30.0
_ALIVE = {True: "it runs", False: "it has crashed", None: "on another machine"}


def run_status(platform: str | None, *, as_json: bool) -> None:
    result: dict[str, Any] = {}
    with command_result(result, as_json=as_json):
        indices = all_indices() if platform is None else [index_of(platform)]
        client = indices[0].connected()
        states = [status(client, index.platform.id, index.alias, index.definition) for index in indices]
        result.update({"platforms": states} if platform is None else states[0])
        if not as_json:
            for state in states:
                click.echo(_readable_state(state))


def _readable_state(state: dict[str, Any]) -> str:
    """A few lines: what serves, who is at work, and every generation."""
    load = load_command(state["platform"])
    lines = [f"{state['alias']}: nothing is loaded; {load}"]
    if state["serving"] is not None:
        shown = ", ".join(f"{key} {value}" for key, value in state["settings"].items())
        advice = "" if state["definition"] == "equal" else f" from this version's: load again, {load}"
        lines = [
            f"{state['alias']}: {_counted(state['items'])} items in {state['serving']}",
            f"  definition {state['definition']}{advice}",
            f"  {shown}",
        ]
    if state["lock"] is not None:
        lines.append(f"  {_lock(state['lock'])}")
    return "\n".join([*lines, *map(_generation, state["generations"])])


def _counted(items: int | None) -> str:
    return "?" if items is None else f"{items:,}"


def _lock(lock: dict[str, Any]) -> str:
    return (
        f"locked by gear-indexer {lock['command']}, process {lock['pid']} on {lock['host']}, since {lock['since']}, "
        f"last heard of {lock['heartbeat']}: {_ALIVE[lock['alive']]}"
    )


def _generation(generation: dict[str, Any]) -> str:
    megabytes = "?" if generation["bytes"] is None else f"{generation['bytes'] / 1e6:,.1f}"
    size = f"{_counted(generation['items'])} items, {megabytes} MB"
    definition = f"definition {generation['definition']}{_note(generation)}"
    return f"  {generation['index']}  {generation['state']}  {size}, {definition}"


def _note(generation: dict[str, Any]) -> str:
    checkpoint = generation["checkpoint"]
    done = "" if checkpoint is None else f"; {checkpoint['read']:,} records of {', '.join(checkpoint['sources'])} done"
    if generation["state"] != "unfinished":
        return done
    goes_on = "" if checkpoint is None else ", load --resume with the same sources goes on with it"
    return f"{done}; its load was interrupted, the next load or gear-indexer prune removes it{goes_on}"


def run_rollback(
    platform: str,
    to: str | None,
    *,
    yes: bool,
    dry_run: bool,
    max_price_change: float,
    without_orders: bool,
    as_json: bool,
) -> None:
    with platform_command(platform, as_json=as_json, swapped=False) as (index, result):
        interruption = Interruption()
        client = index.connected()
        rollback = Rollback(client, index.platform, index.alias, index.definition, interruption.hold)
        preview = rollback.preview(to)
        result["changes"] = preview.as_json()
        for sentence in preview.sentences():
            say(sentence)
        if (refusal := preview.prices.broken_rule(max_price_change)) is not None:
            raise CommandError(refusal)
        if dry_run:
            return
        if not yes and sys.stdin.isatty() and not click.confirm("Have it serve?", err=True):
            raise CommandError("nothing was done")
        retry = RetryPolicy(ORDERS_RETRY_SECONDS)
        with interruption.watched(), index.claims(retry, without_orders=without_orders) as claims:
            rollback.run(to, claims, say, result, preview=preview)
        say(f"{result['index']} serves behind {result['alias']}: {result['items']:,} items{_way_back(result)}")


def _way_back(result: dict[str, Any]) -> str:
    if result["previous"] is None:
        return ""
    return f"; to take it back: gear-indexer rollback --platform {result['platform']} --to {result['previous']}"


def run_prune(platform: str, keep: int, *, as_json: bool) -> None:
    with platform_command(platform, as_json=as_json) as (index, result):
        prune(index.connected(), index.alias, index.definition, keep, say, result)
        removed = ", ".join(result["removed"]) or "nothing"
        say(f"removed {removed}; kept {', '.join(result['kept']) or 'nothing'}")


def run_doctor(
    platform: str | None, *, fix: bool, older_than: float, keep: int, without_orders: bool, as_json: bool
) -> None:
    """`gear-indexer doctor`; `older_than` in hours."""
    result: dict[str, Any] = {"platforms": [], "errors": None, "warnings": None, "findings": []}
    with command_result(result, as_json=as_json):
        platforms = [index.platform for index in (all_indices() if platform is None else [index_of(platform)])]
        result["platforms"] = [entry.id for entry in platforms]
        settings = SearchSettings()
        interruption = Interruption()
        with (
            interruption.watched(),
            closing(connect(settings, timeout=DOCTOR_CALL_SECONDS, retries=1)) as client,
            nullcontext() if without_orders else OrdersDatabase(StoreSettings().database_url) as orders,
        ):
            doctor = Doctor(
                client=client,
                address=settings.redacted_address,
                alias_of=settings.alias,
                definition=read_definition(),
                platforms=platforms,
                orders=orders,
                older_than=older_than * 3600,
                keep=keep,
                uninterrupted=interruption.hold,
            )
            findings = doctor.run(fix=fix, say=say)
        result["errors"] = _left(findings, Severity.ERROR)
        result["warnings"] = _left(findings, Severity.WARNING)
        result["findings"] = [finding.as_json() for finding in findings]
        if not as_json:
            click.echo(_readable_findings(result))
    if result["errors"]:
        sys.exit(1)


def _left(findings: Sequence[Finding], severity: Severity) -> int:
    return sum(finding.severity is severity and not finding.fixed for finding in findings)


def _readable_findings(result: dict[str, Any]) -> str:
    """A sentence and a remedy each, and the sum."""
    lines = []
    for finding in result["findings"]:
        if finding["fixed"]:
            lines.append(f"repaired  {finding['code']}: {finding['message']}")
        else:
            lines += [f"{finding['severity']}  {finding['code']}: {finding['message']}", f"    do: {finding['remedy']}"]
    repaired = sum(finding["fixed"] for finding in result["findings"])
    summary = f"{result['errors']} errors, {result['warnings']} warnings, {repaired} repaired"
    return "\n".join([*lines, summary if lines else "nothing is wrong"])
