"""What the documents say is what the code does."""

import re
import shlex
from pathlib import Path

import click
import pytest

from api.errors import ERRORS
from api.settings import Settings
from node.settings import NodeSettings
from tests.docs.pages import DOCS, GROUPS, PAGES, commands, help_text

ROOT = DOCS.parent
ALL_COMMANDS = [found for name, group in GROUPS.items() for found in commands(name, group)]
PAGES_BY_HAND = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")] + [
    file for file in DOCS.rglob("*.md") if file.name not in PAGES
]


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run `make docs` and commit what it wrote"


@pytest.mark.parametrize(("name", "command"), ALL_COMMANDS, ids=[name for name, _ in ALL_COMMANDS])
def test_every_command_and_option_has_help_and_an_example(name: str, command: click.Command) -> None:
    usage, *rest = help_text(name).splitlines()
    assert usage.startswith(f"Usage: {name}")
    assert any(name in line for line in rest), "the help needs an example that can be pasted"
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []


@pytest.mark.parametrize("file", PAGES_BY_HAND, ids=lambda file: file.name)
def test_links_between_documents_lead_somewhere(file: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8"))
    assert [link for link in links if not (file.parent / link).exists()] == []


@pytest.mark.parametrize("file", PAGES_BY_HAND, ids=lambda file: file.name)
def test_commands_in_documents_exist(file: Path) -> None:
    known = dict(ALL_COMMANDS)
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    text = file.read_text(encoding="utf-8")
    for target in re.findall(r"`?make ([a-z][a-z-]+)`", text) + re.findall(r"^make ([a-z-]+)", text, re.MULTILINE):
        assert target in targets, f"make {target} is no target"
    for line in re.findall(r"^(?:\.venv/bin/)?(gear-[a-z]+ .*)$", text, re.MULTILINE):
        words = shlex.split(line.split("|")[0], comments=True)
        name = max((one for one in known if words[: len(one.split())] == one.split()), key=len)
        options = {flag for one in known[name].params for flag in (*one.opts, *one.secondary_opts)}
        asked = {word.split("=")[0] for word in words if word.startswith("--")}
        assert asked <= options | {"--help"}, f"{name} does not take {asked - options}"


def test_every_setting_is_documented() -> None:
    text = (DOCS / "operations.md").read_text(encoding="utf-8")
    names = {str(about.validation_alias or f"GEAR_{name.upper()}") for name, about in Settings.model_fields.items()}
    names |= {f"GEAR_NODE_{field.upper()}" for field in NodeSettings.model_fields}
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_error_code_is_documented() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    assert {code for code in ERRORS if f"| `{code}` |" not in text} == set()


def test_every_fault_on_the_resiliency_page_has_its_test() -> None:
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", (DOCS / "resiliency.md").read_text(encoding="utf-8")))
    held = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_[a-z0-9_]+)", file.read_text(encoding="utf-8"))
    }
    assert named - held == set()
    assert len(named) > 30
