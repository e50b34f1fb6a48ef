"""Whose process has died is known at once, and what cannot be known is not guessed."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from indexer.locking.owner import Owner, is_process_alive, this_process


def _owner_of(pid: int) -> Owner:
    mine = this_process()
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return replace(mine, pid=pid, started=stat.rpartition(")")[2].split()[19])


def test_a_process_lives_until_it_has_died() -> None:
    assert is_process_alive(this_process()) is True
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        owner = _owner_of(child.pid)
        assert is_process_alive(owner) is True
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_process_alive(owner) is False, "dead, though nobody has asked for its exit code"
    assert is_process_alive(owner) is False


def test_a_later_process_with_the_same_pid_is_another() -> None:
    assert is_process_alive(replace(this_process(), started="1")) is False


def test_of_another_machine_or_container_nothing_is_known() -> None:
    mine = this_process()
    assert is_process_alive(replace(mine, machine="another start of a kernel")) is None
    assert is_process_alive(replace(mine, machine=None, pid=2**22 + 1)) is None
