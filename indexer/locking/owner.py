"""The owner of a lock: which process it is, and whether it is alive."""

import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path

_STAT_STATE = 0  # of the fields after the command's name in /proc/<pid>/stat, see proc_pid_stat(5)
_STAT_START = 19
_DEAD_STATES = ("Z", "X")  # nobody has asked for its exit code yet, or it is just going


@dataclass(frozen=True, kw_only=True)
class Owner:
    """A process that holds a lock; `id` tells apart what one process holds one after the other."""

    id: str
    host: str
    pid: int
    machine: str | None  # where the pid has a meaning: this start of a kernel, this namespace; None: not known
    started: str | None  # the kernel's own count, which tells a process from a later one with its pid

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Owner:
    pid = os.getpid()
    process = _state_and_start(pid)
    return Owner(
        id=secrets.token_hex(8),
        host=socket.gethostname(),
        pid=pid,
        machine=_machine(),
        started=None if process is None else process[1],
    )


def is_process_alive(owner: Owner) -> bool | None:
    """Whether its process lives; None where that cannot be told from here, as of another machine or container."""
    if owner.machine is None or owner.machine != _machine():
        return None
    try:
        os.kill(owner.pid, 0)  # asks only
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, but there
        pass
    process = _state_and_start(owner.pid)
    if process is None:
        return None
    state, started = process
    return state not in _DEAD_STATES and started == owner.started


def _machine() -> str | None:
    """Names of hosts repeat, and a container has pids of its own; a start of a kernel and a namespace are unique."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:  # no Linux
        return None


def _state_and_start(pid: int) -> tuple[str, str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return fields[_STAT_STATE], fields[_STAT_START]
