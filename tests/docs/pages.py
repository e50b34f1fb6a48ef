"""The generated pages: `docs/cli.md` from the commands, `docs/api.md` from the OpenAPI description."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import click
from click.testing import CliRunner

import api.cli.main
import indexer.cli.main
import node.cli
from api.app import create_app
from api.settings import Settings
from tests.docs.api_page import ApiPage

DOCS = Path(__file__).parents[2] / "docs"
GROUPS = {"gear-indexer": indexer.cli.main.main, "gear-api": api.cli.main.main, "gear-node": node.cli.main}
_GENERATED = "<!-- written by `make docs`; a test fails where it differs from the code -->\n"


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, each with its full name."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        declared = [below for below in command.list_commands(context) if below not in command.commands]
        for below in (*command.commands, *declared):
            child = command.get_command(context, below)
            assert child is not None
            yield from commands(f"{name} {below}", child)


def help_text(name: str) -> str:
    """What `--help` of a command prints, at a fixed width."""
    group, *path = name.split()
    shown = CliRunner().invoke(GROUPS[group], [*path, "--help"], prog_name=group, terminal_width=100, color=False)
    return shown.output.rstrip()


def cli_page() -> str:
    """`docs/cli.md`."""
    parts = [
        _GENERATED,
        "# Commands\n",
        "Data goes to stdout, messages to stderr. `-` is stdin. The exit code is not 0 whenever something was not "
        "done. Settings come from `GEAR_…` variables and a file `.env` ([operations](operations.md)).\n",
    ]
    for name, group in GROUPS.items():
        for full_name, _ in commands(name, group):
            level = "##" if full_name == name else "###"
            parts.append(f"{level} {full_name}\n\n```text\n{help_text(full_name)}\n```\n")
    return "\n".join(parts)


@cache
def api_page() -> str:
    """`docs/api.md`."""
    parts = [
        _GENERATED,
        "# HTTP API\n",
        "Machine-readable: `GET /openapi.json` of a running service, or `gear-api openapi`. Forms: `/docs`.\n",
        "All limits are inclusive. In a body, null means absent. Unknown fields and parameters are refused.\n",
        ApiPage(create_app(Settings(_env_file=None)).openapi()).text(),
    ]
    return "\n".join(parts)


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli_page, "api.md": api_page}
