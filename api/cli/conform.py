"""`gear-api conform`: checks the contract against a deployment by a sandbox token."""

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from api.cli.context import AS_JSON, TEXT

if TYPE_CHECKING:
    from api.conform.checks import Finding


TOKEN = re.compile(r"[\x21-\x7e]+")


def _base_url(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise click.BadParameter(f"{value!r} does not begin with http:// or https://")
    return value


@click.command()
@click.argument("base_url", callback=_base_url)
@click.option(
    "--token-file",
    "token",
    type=TEXT,
    required=True,
    help="File with a sandbox token of the scopes search and order; - is stdin.",
)
@click.option("--part", type=click.Choice(["http", "search", "orders"]), help="These checks alone.")
@AS_JSON
def conform(base_url: str, token: str, part: str | None, as_json: bool) -> None:
    """Check that a deployment keeps the contract, by requests alone: the smoke test after each release.

    It reads the catalogue and places sandbox orders, which it cancels: no real item is bound. The exit code is 0 where
    every check has passed.

    Example: gear-api conform https://gear.example.com --token-file sandbox.token
    """
    from api.conform import http_checks, order_checks, search_checks  # noqa: F401  # each adds its checks
    from api.conform.checks import CHECKS, run_checks
    from api.conform.deployment import Deployment

    if not TOKEN.fullmatch(token.strip()):
        raise click.BadParameter("must have the token and nothing else", param_hint="--token-file")
    deployment = Deployment(base_url, token.strip())
    findings = run_checks(deployment, [entry for entry in CHECKS if part in (None, entry.part)])
    if as_json:
        click.echo(json.dumps(_as_json(base_url, findings)))
    else:
        width = max(len(finding.entry.name) for finding in findings)
        for finding in findings:
            click.echo(f"{finding.outcome:<8} {finding.entry.name:<{width}}  {finding.entry.sentence}")
            if finding.message:
                click.echo(f"{'':<8} {'':<{width}}  {finding.message}")
    passed = sum(finding.outcome == "passed" for finding in findings)
    click.echo(f"{passed} of {len(findings)} checks passed", err=True)
    if passed < len(findings):
        raise click.exceptions.Exit(1)


def _as_json(base_url: str, findings: Sequence["Finding"]) -> dict[str, object]:
    return {
        "url": base_url,
        "passed": all(finding.outcome == "passed" for finding in findings),
        "checks": [
            {
                "name": finding.entry.name,
                "part": finding.entry.part,
                "sentence": finding.entry.sentence,
                "outcome": finding.outcome,
                "message": finding.message or None,
            }
            for finding in findings
        ],
    }
