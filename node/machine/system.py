"""Asks this machine for its platform, processes, ports, disk and memory. The only module that uses psutil."""

import contextlib
import platform
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

from node.errors import NodeError

_MACHINES = frozenset({"x86_64", "amd64", "arm64", "aarch64"})
_SYSTEMS = {"linux": "Linux", "darwin": "macOS"}
_SAME_START = 2.0
"""Seconds by which two readings of one process's start may differ (the clock was set in between)."""


@dataclass(frozen=True)
class Memory:
    """Bytes of memory that a new process may still take, and what sets that limit."""

    available: int
    limited_by: str


def check_platform(system: str, machine: str, libc: str) -> None:
    """Raises NodeError where the Java runtime's wheels or the server do not run.

    `system` as sys.platform, `machine` as platform.machine(), `libc` as platform.libc_ver()[0].
    """
    elsewhere = "Run OpenSearch there in a container (see docker-compose.yml) and set GEAR_OPENSEARCH_URL."
    if system not in _SYSTEMS:
        raise NodeError(f"gear-node runs on Linux and macOS, and this is {system}. {elsewhere}")
    if machine.lower() not in _MACHINES:
        raise NodeError(
            f"gear-node runs on x86-64 and arm64, and this machine is {machine or 'unknown'}: "
            f"there is no packaged Java runtime for it. {elsewhere}"
        )
    if system == "linux" and libc != "glibc":
        raise NodeError(
            f"gear-node needs a Linux with glibc, and this one has {libc or 'another C library (musl?)'}: "
            f"there is no packaged Java runtime for it. {elsewhere}"
        )


def check_this_platform() -> None:
    """`check_platform` for the machine we are on."""
    check_platform(sys.platform, platform.machine(), platform.libc_ver()[0])


def started_at(pid: int) -> float | None:
    """When the process began (seconds since 1970), or None when there is no such living process."""
    try:
        process = psutil.Process(pid)
        with contextlib.suppress(psutil.AccessDenied):
            if process.status() == psutil.STATUS_ZOMBIE:
                return None
        return float(process.create_time())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return None


def is_same_process(pid: int, started: float, mark: str) -> bool:
    """Whether the process lives and is the one meant: by its start, or by `mark` standing on its command line."""
    now = started_at(pid)
    if now is None:
        return False
    if abs(now - started) <= _SAME_START:
        return True
    with contextlib.suppress(psutil.Error):
        return mark in psutil.Process(pid).cmdline()
    return False


def resident_bytes(pid: int) -> int | None:
    """Memory that the process holds, or None when it is gone or not ours to ask."""
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return None


def port_is_taken(port: int) -> bool:
    """Whether something listens on the port of 127.0.0.1, or it may not be bound (below 1024)."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            return True
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
    return False


def port_owner(port: int) -> str | None:
    """`name (pid 123)` of who listens on the port, or None when that is not ours to see."""
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            if listens and connection.pid is not None:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    return None


def free_disk(folder: Path) -> int:
    """Bytes that we may still write to the folder's file system; of its first existing parent when it is missing."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def free_memory(control_group: Path = Path("/sys/fs/cgroup")) -> Memory:
    """What the machine has available, or less where this process lives in a limited control group (a container)."""
    available = int(psutil.virtual_memory().available)
    for folder, limit_file, usage_file, prefix in (
        (control_group, "memory.max", "memory.current", ""),
        (control_group / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ):
        # A file that is missing or says "max" sets no limit.
        with contextlib.suppress(OSError, ValueError, KeyError):
            limit = int((folder / limit_file).read_text())
            used = int((folder / usage_file).read_text()) - _page_cache(folder, prefix)
            if limit - used < available:
                return Memory(available=limit - used, limited_by="this container")
    return Memory(available=available, limited_by="this machine")


def _page_cache(folder: Path, prefix: str) -> int:
    """Bytes that count as used in the control group, but only hold file contents and are given up when needed."""
    lines = (folder / "memory.stat").read_text().splitlines()
    counts = dict(line.split(maxsplit=1) for line in lines)
    return int(counts[f"{prefix}inactive_file"]) + int(counts[f"{prefix}active_file"])
