"""The command line explains itself, is quick to, and keeps data and talk apart."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from node.cli import main

COMMANDS = sorted(main.commands)


def test_the_commands_are_those_of_the_contract() -> None:
    assert COMMANDS == ["reset", "start", "status", "stop"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help_with_an_example(name: str) -> None:
    command = main.commands[name]
    assert f"Example: gear-node {name}" in (command.help or "")
    for option in command.params:
        assert isinstance(option, click.Option)
        assert "Example: " in (option.help or ""), option.name


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys, node.cli\n"
        "heavy = {'pydantic', 'requests', 'jgo', 'rich', 'psutil', 'filelock'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_status_of_a_node_that_never_was_is_3_and_makes_nothing(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["status", "--json", "--dir", str(tmp_path / "none")])
    assert result.exit_code == 3
    assert '"state": "stopped"' in result.stdout
    assert not (tmp_path / "none").exists()


def test_stopping_what_does_not_run_is_fine_and_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["stop", "--dir", str(tmp_path / "none")])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "OpenSearch was not running\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["start", "--heap", "lots"], "heap: 'lots' is no size"),
        (["start", "--port", "1"], "port: Input should be greater than or equal to 1024"),
    ],
)
def test_what_was_not_done_is_reported_on_stderr_with_exit_code_1(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(main, [*arguments, "--dir", str(tmp_path / "none")])
    assert (result.exit_code, result.stdout) == (1, "")
    assert sentence in result.stderr


def test_reset_asks_first(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["reset", "--dir", str(tmp_path / "none")], input="n\n")
    assert result.exit_code == 1
    assert "Delete all data in" in result.stderr


def test_reset_of_nothing_says_so(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["reset", "--yes", "--dir", str(tmp_path / "none")])
    assert result.exit_code == 0
    assert "there was nothing to delete" in result.stderr


def test_reset_refuses_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    result = CliRunner().invoke(main, ["reset", "--yes", "--dir", str(tmp_path)])
    assert result.exit_code == 1
    assert "is not empty and no folder of gear-node" in result.stderr
    assert (tmp_path / "data").is_dir()
