"""The generated pages: the commands and the OpenAPI description in, `docs/cli.md` and `docs/api.md` out."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

import api.cli
import indexer.cli
import node.cli
from api.app import create_app
from api.errors import ERRORS
from api.settings import Settings

DOCS = Path(__file__).parents[2] / "docs"
GROUPS = {"gear-indexer": indexer.cli.main, "gear-api": api.cli.main, "gear-node": node.cli.main}
_GENERATED = "<!-- written by `make docs`; a test fails where it differs from the code -->\n"


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and all below it, each with its full name."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        declared = [below for below in command.list_commands(context) if below not in command.commands]
        for below in (*command.commands, *declared):
            found = command.get_command(context, below)
            assert found is not None
            yield from commands(f"{name} {below}", found)


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
        "Data goes to stdout and talk to stderr, `-` is stdin, and the exit code is not 0 whenever something was not "
        "done. Settings come from `GEAR_…` variables and a file `.env` ([operations](operations.md)).\n",
    ]
    for name, group in GROUPS.items():
        for full_name, _ in commands(name, group):
            level = "##" if full_name == name else "###"
            parts.append(f"{level} {full_name}\n\n```text\n{help_text(full_name)}\n```\n")
    return "\n".join(parts)


def api_page() -> str:
    """`docs/api.md`."""
    schema = create_app(Settings(_env_file=None)).openapi()
    parts = [
        _GENERATED,
        "# HTTP API\n",
        "The same as a machine-readable description: `GET /openapi.json` of a running service, or "
        "`gear-api openapi`; with forms to try it: `/docs`.\n",
    ]
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(schema, f"{method.upper()} {path}", operation))
    parts.append(_errors())
    return "\n".join(parts)


def _operation(schema: dict[str, Any], title: str, operation: dict[str, Any]) -> str:
    lines = [f"## {title}\n", f"**{operation['summary']}.** {operation.get('description', '')}\n"]
    for parameter in operation.get("parameters", ()):
        needed = "required" if parameter.get("required") else "optional"
        lines.append(f"- `{parameter['name']}` ({parameter['in']}, {needed})")
    if "requestBody" in operation:
        content = operation["requestBody"]["content"]["application/json"]
        lines.append(_fields(schema, content["schema"]))
        lines += [
            f"\nBody, {name}:\n\n{_block(example['value'])}" for name, example in content.get("examples", {}).items()
        ]
    for status, answer in operation["responses"].items():
        content = answer.get("content", {}).get("application/json", {})
        if "example" in content:
            lines.append(f"\nAnswer {status}:\n\n{_block(content['example'])}")
    codes = [
        f"{status} {answer['description']}" for status, answer in operation["responses"].items() if int(status) >= 400
    ]
    lines.append(f"\nErrors: {' · '.join(codes)}\n")
    return "\n".join(lines)


def _fields(schema: dict[str, Any], held: dict[str, Any]) -> str:
    model = _resolved(schema, held)
    rows = ["\n| field | type | default | rule |", "| --- | --- | --- | --- |"]
    for name, described in model["properties"].items():
        default = "required" if name in model.get("required", ()) else json.dumps(described.get("default"))
        rule = described.get("description", "").replace("|", "\\|")
        rows.append(f"| `{name}` | {_type(schema, described)} | {default} | {rule} |")
    return "\n".join(rows)


def _resolved(schema: dict[str, Any], held: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in held:
        return held
    found: dict[str, Any] = schema["components"]["schemas"][held["$ref"].rsplit("/", 1)[-1]]
    return found


def _type(schema: dict[str, Any], described: dict[str, Any]) -> str:
    for choice in described.get("anyOf", ()):
        if choice.get("type") != "null":
            return _type(schema, choice)
    held = _resolved(schema, described)
    if "enum" in held:
        return ", ".join(f"`{value}`" for value in held["enum"])
    if "properties" in held:
        return "{" + ", ".join(f"`{name}`" for name in held["properties"]) + "}"
    if held.get("type") == "array":
        return f"list of {_type(schema, held['items'])}"
    return str(held.get("type", "any"))


def _block(value: Any) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"


def _errors() -> str:
    rows = ["## Errors\n", "Always the same envelope; `code` is the stable part.\n", "| status | code | meaning |"]
    rows.append("| --- | --- | --- |")
    rows += [f"| {status} | `{code}` | {text} |" for code, (status, text) in ERRORS.items()]
    return "\n".join(rows) + "\n"


PAGES = {"cli.md": cli_page, "api.md": api_page}
