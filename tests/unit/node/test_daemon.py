"""A process is ended in good order or killed, and the end of a log is what its start wrote."""

import subprocess
import sys
from pathlib import Path

import pytest

from node.errors import NodeError
from node.folders import Folders
from node.process.daemon import end, last_lines, launch, log_tail, wait_ready

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"


def child(program: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_process_that_listens_ends_by_itself() -> None:
    with child("import signal; print('ready', flush=True); signal.pause()") as process:
        assert end(process.pid, 20) is True
    assert end(process.pid, 1) is True, "what is gone needs no end"


def test_a_process_that_does_not_listen_is_killed() -> None:
    with child(STUBBORN) as process:
        assert end(process.pid, 0.3) is False


def test_the_last_lines_of_a_long_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    lines = [f"{number} {'ü' * 900}" for number in range(1000)]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert last_lines(log) == lines[-15:]


def test_fewer_lines_than_are_shown(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert last_lines(log) == []
    log.write_text("one\ntwo\n")
    assert last_lines(log) == ["one", "two"]


def test_lines_of_an_earlier_start_are_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old\nnew\n")
    assert last_lines(log, begins=4) == ["new"]
    assert last_lines(log, begins=400) == ["old", "new"], "the file was begun anew since"


def test_a_start_that_fails_shows_what_was_printed(tmp_path: Path) -> None:
    folders = Folders(home=tmp_path, cache=tmp_path, account=None)
    command = [
        sys.executable,
        "-c",
        "import os; print('WARNING: harmless'); print('no such option'); print(os.environ)",
    ]
    process = launch(command, folders)
    with pytest.raises(NodeError) as caught:
        wait_ready(1, lambda: process.poll() is not None, folders, 30)
    assert "OpenSearch ended while starting" in str(caught.value)
    assert "no such option" in str(caught.value)
    assert "harmless" not in str(caught.value)
    assert "PYTEST_CURRENT_TEST" not in str(caught.value), "nothing of our environment reaches the server"


def test_an_empty_log_is_reported(tmp_path: Path) -> None:
    assert "nothing was logged yet" in log_tail(Folders(home=tmp_path, cache=tmp_path, account=None))
