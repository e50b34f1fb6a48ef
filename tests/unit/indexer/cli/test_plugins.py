"""Commands that other packages declare for the indexer's command line are found, and never replace its own."""

import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from indexer.cli.main import main
from indexer.cli.plugins import GROUP, Commands

MODULE = """
import click

GREETING = "hello"

@click.command(help="Greets.")
def greet():
    click.echo(GREETING)
"""


@pytest.fixture(params=["greet = greeting:greet\nload = greeting:greet"])
def installed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that declares commands, installed as packages are."""
    (tmp_path / "greeting.py").write_text(MODULE, encoding="utf-8")
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[{GROUP}]\n{request.param}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "greeting", raising=False)


@pytest.mark.usefixtures("installed")
def test_a_declared_command_is_listed_and_runs() -> None:
    assert "Greets." in _run(Commands("group"), "--help")
    assert _run(main, "greet") == "hello\n"


@pytest.mark.usefixtures("installed")
def test_the_own_commands_stay_what_they_are() -> None:
    assert main.get_command(click.Context(main), "load") is main.commands["load"]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("installed", ["broken = greeting:GREETING"], indirect=True)
def test_what_is_no_command_is_named_and_spoils_no_other() -> None:
    done = CliRunner().invoke(main, ["broken"])
    assert done.exit_code == 1
    assert "greeting:GREETING" in done.output
    assert CliRunner().invoke(main, ["load", "--help"]).exit_code == 0


def test_a_command_that_nobody_declares_is_unknown() -> None:
    assert "No such command" in CliRunner().invoke(main, ["greet"]).output


def test_every_command_that_this_project_declares_is_one() -> None:
    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name, value in project.get("entry-points", {}).get(GROUP, {}).items():
        assert isinstance(EntryPoint(name, value, GROUP).load(), click.Command)


def _run(group: click.Group, *arguments: str) -> str:
    done = CliRunner().invoke(group, arguments)
    assert done.exit_code == 0, done.output
    return done.output
