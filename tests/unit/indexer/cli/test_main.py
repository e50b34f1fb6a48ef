"""The command line without an engine: help for a stranger, clear errors, exit codes."""

import errno
import gzip
import os
import socket
import subprocess
import sys
from itertools import islice
from pathlib import Path

import click
import orjson
import pytest
from click.testing import CliRunner

from indexer.cli.context import INTERRUPTED, command_result
from indexer.cli.main import main

COMMANDS = main.list_commands(click.Context(main))
# Every command that needs the engine, with what it asks of one that is away.
ASKS = [
    ["load", "items.ndjson", "--platform", "730"],
    ["load", "items.ndjson", "--platform", "730", "--dry-run"],
    ["export", "--platform", "730", "--output", "out.ndjson"],
    ["status"],
    ["rollback", "--platform", "730"],
    ["prune", "--platform", "730"],
    ["upsert", "items.ndjson", "--platform", "730", "--quiet"],
    ["follow", "-", "--platform", "730", "--quiet"],
    ["delete", "1", "--platform", "730", "--quiet"],
]


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """An address at which nobody listens, with a login that no message may show."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", f"http://me:secret@127.0.0.1:{port}")
    monkeypatch.setenv("GEAR_DATABASE_URL", f"sqlite:///{tmp_path}/absent.db")
    monkeypatch.chdir(tmp_path)
    return f"127.0.0.1:{port}"


def _away(address: str) -> str:
    reason = f"[Errno {errno.ECONNREFUSED}] {os.strerror(errno.ECONNREFUSED)}"
    return (
        f"OpenSearch cannot be reached at http://{address} (GEAR_OPENSEARCH_URL): "
        f"Failed to establish a new connection: {reason}"
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0
    assert f"gear-indexer {command}" in result.stdout


def test_no_command_is_left_out_where_the_engine_is_away() -> None:
    assert {*COMMANDS} == {*(command for command, *_ in ASKS), "doctor", "sample"}  # doctor: below; sample: needs none


@pytest.mark.parametrize("arguments", ASKS)
def test_an_engine_that_is_away_is_reported_in_one_sentence_by_every_command(
    arguments: list[str], nowhere: str
) -> None:
    Path("items.ndjson").write_text('{"id": 1, "name": "a"}\n')
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 1
    assert result.stderr == f"Error: {_away(nowhere)}\n"
    response = orjson.loads(result.stdout)
    assert response["error"] == _away(nowhere)
    assert response.get("swapped", False) is False


def test_the_doctor_tells_an_engine_that_is_away_in_the_same_sentence(nowhere: str) -> None:
    result = CliRunner().invoke(main, ["doctor", "--without-orders", "--json"])
    assert result.exit_code == 1
    assert [finding["message"] for finding in orjson.loads(result.stdout)["findings"]] == [_away(nowhere)]


def test_the_doctor_needs_no_setting_of_orders_that_are_left_out(nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_DATABASE_URL", "mysql://no-such-kind")
    result = CliRunner().invoke(main, ["doctor", "--without-orders", "--json"])
    assert [finding["message"] for finding in orjson.loads(result.stdout)["findings"]] == [_away(nowhere)]


def test_a_platform_that_is_not_known_names_the_known(nowhere: str) -> None:
    result = CliRunner().invoke(main, ["load", "-", "--platform", "csgo"])
    assert result.exit_code == 1
    assert "730 (cs2)" in result.stderr


def test_a_file_that_is_not_there_is_named_before_anything_is_done(nowhere: str) -> None:
    result = CliRunner().invoke(main, ["load", "absent.ndjson", "--platform", "730", "--json"])
    assert result.exit_code == 1
    assert "absent.ndjson" in orjson.loads(result.stdout)["error"]


def test_a_setting_that_is_wrong_is_named_once(nowhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEAR_OPENSEARCH_URL", "ftp://x")
    for words in (["status"], ["rollback", "--platform", "730"]):
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: GEAR_OPENSEARCH_URL: must be http")
        assert len(result.stderr.splitlines()) == 1


def test_sample_writes_listings_to_stdout_or_says_what_it_wrote(tmp_path: Path) -> None:
    few, target = tmp_path / "rows.ndjson", tmp_path / "a.ndjson.gz"
    with gzip.open("data/catalogue.ndjson.gz", "rb") as rows:
        few.write_bytes(b"".join(islice(rows, 100)))
    sample = ["sample", "--catalogue", str(few), "--count", "3", "--seed", "5"]
    plain = CliRunner().invoke(main, sample)
    filed = CliRunner().invoke(main, [*sample, "--output", str(target), "--json"])
    assert plain.exit_code == filed.exit_code == 0
    assert len(plain.stdout_bytes.splitlines()) == 3
    assert orjson.loads(filed.stdout)["bytes"] == len(plain.stdout_bytes)
    assert target.exists()
    both = CliRunner().invoke(main, ["sample", "--count", "3", "--seed", "5", "--json"])
    assert both.exit_code == 2
    assert "--output" in both.stderr


def test_names_that_are_no_utf_8_are_no_fault_of_the_result(tmp_path: Path) -> None:
    target = tmp_path / os.fsdecode(b"\xff.ndjson")
    result = CliRunner().invoke(main, ["sample", "--count", "1", "--seed", "5", "--output", str(target), "--json"])
    assert result.exit_code == 0, result.output
    assert orjson.loads(result.stdout)["output"] == f"{tmp_path}/?.ndjson"
    assert target.exists()


def test_a_command_that_is_aborted_at_its_prompt_prints_its_result() -> None:
    @click.command()
    def asks() -> None:
        with command_result({"swapped": False}, as_json=True):
            click.confirm("Have it serve?", err=True)

    result = CliRunner().invoke(asks, input="")
    assert result.exit_code == INTERRUPTED
    assert orjson.loads(result.stdout) == {"swapped": False, "error": "interrupted"}


def test_a_command_that_is_stopped_leaves_no_unfinished_file(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from indexer.cli.run_output import write_pieces\n"
        "write_pieces((os.kill(os.getpid(), signal.SIGTERM) or b'' for _ in range(1)), Path(sys.argv[1]))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "items.ndjson")]
    ended = subprocess.run(command, check=False, capture_output=True, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode != 0
    assert list(tmp_path.iterdir()) == []
