"""What a person sees while a load runs: a bar on a terminal, a line every few seconds elsewhere."""

import os
import pty
import subprocess
import sys

import pytest

from indexer.cli import progress
from indexer.cli.progress import LoadProgress
from tests.support.indexer.fixtures import Place, items, lines


def test_a_terminal_gets_a_bar_with_rate(place: Place) -> None:
    (place.folder / "many.ndjson").write_bytes(lines(items(3000)))
    mine, theirs = pty.openpty()
    program = "from indexer.cli import progress; progress.BAR_SECONDS = 0; from indexer.cli.main import main; main()"
    arguments = [sys.executable, "-c", program, "load", "many.ndjson", "--platform", "730"]
    environment = {**place.environment, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(
        arguments, env=environment, cwd=place.folder, stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(mine):
            shown += chunk
        assert process.wait(60) == 0, shown.decode()
    os.close(mine)
    assert b"loading" in shown
    assert b"/s" in shown
    assert b"3,000 read, 3,000 indexed" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody holds the other end any more
        return b""


def test_elsewhere_lines_tell_rate_and_what_remains(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0)
    with LoadProgress(1000, quiet=False) as shown:
        shown.show(250, 10)
    with LoadProgress(None, quiet=False) as shown:
        shown.show(250, 10)
    with LoadProgress(1000, quiet=True) as shown:
        shown.show(250, 10)
        shown.say("something")
    with_total, without_total = capsys.readouterr().err.splitlines()
    assert with_total.startswith("10 items, ")
    assert "25%" in with_total
    assert with_total.endswith("s remaining")
    assert "remaining" not in without_total
