"""Starts the server as a detached process, waits until it answers, and ends it."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

from node.errors import NodeError
from node.folders import Folders
from node.machine.system import started_at
from node.process import cluster

_TAIL_LINES = 15
_TAIL_BYTES = 1 << 16
_POLL_SECONDS = 0.1
"""Seconds between two looks at a process or port."""


def launch(command: list[str], folders: Folders) -> subprocess.Popen[bytes]:
    """Start the server in a session of its own, so that it outlives this command and its terminal."""
    account = folders.account
    with folders.console.open("wb") as console:
        return subprocess.Popen(  # noqa: S603  the command is built by config.java_command from our own table
            command,
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            cwd=folders.home,
            # Nothing of our environment: JAVA_TOOL_OPTIONS and the like would change the server, passwords would leak.
            env={"HOME": str(folders.home), "PATH": os.defpath, "LANG": "C.UTF-8"},
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            umask=0o022,
        )


def wait_ready(port: int, ended: Callable[[], bool], folders: Folders, limit: float, *, log_begins: int = 0) -> None:
    """Return once the node answers and its cluster is yellow or green.

    `limit` is in seconds, `log_begins` is the byte of the log where this start begins.
    Raises NodeError with the end of the log when the process ends first or `limit` seconds have passed.
    """
    deadline = monotonic() + limit
    colour = None
    while monotonic() < deadline:
        if ended():
            raise NodeError(
                f"OpenSearch ended while starting. The end of its log ({folders.log}):\n{log_tail(folders, log_begins)}"
            )
        if cluster.is_ours(port):
            colour = cluster.health(port)
            if colour in ("yellow", "green"):
                return
        sleep(_POLL_SECONDS)
    if colour is not None:
        raise NodeError(
            f"OpenSearch answers on port {port}, but its cluster is still {colour} after {limit:.0f} s: "
            f"some index cannot be opened, as {folders.log} tells; `gear-node reset` deletes all data of this node"
        )
    raise NodeError(
        f"OpenSearch did not answer on port {port} within {limit:.0f} s. "
        f"On a slow machine give it longer with --timeout. "
        f"The end of its log ({folders.log}):\n{log_tail(folders, log_begins)}"
    )


def end(pid: int, limit: float) -> bool:
    """Ask the process to end and wait; kill it after `limit` seconds. True when it ended by itself.

    Raises NodeError when it is not ours to end, or even killing did not end it.
    """
    try:
        os.kill(pid, signal.SIGTERM)
        if _wait_ended(pid, limit):
            return True
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError as error:
        msg = f"the node's process {pid} belongs to another user: stop it as the user who started it"
        raise NodeError(msg) from error
    if not _wait_ended(pid, limit):
        raise NodeError(
            f"the node's process {pid} does not end even when killed: see what holds it (state D in ps is a hung disk)"
        )
    return False


def _wait_ended(pid: int, limit: float) -> bool:
    """Whether the process was gone within `limit` seconds."""
    deadline = monotonic() + limit
    while started_at(pid) is not None:
        if monotonic() >= deadline:
            return False
        sleep(_POLL_SECONDS)
    return True


def last_lines(path: Path, begins: int = 0) -> list[str]:
    """The last lines of a log behind its byte `begins`, none when it is missing.

    A file shorter than `begins` was begun anew since, and counts as a whole.
    """
    if not path.is_file():
        return []
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(begins if begins <= size else 0, size - _TAIL_BYTES))
        return file.read().decode("utf-8", errors="replace").splitlines()[-_TAIL_LINES:]


def log_tail(folders: Folders, log_begins: int = 0) -> str:
    """The last lines of what Java printed and of the server's log, without the JVM's harmless warnings."""
    console = [line for line in last_lines(folders.console) if not line.startswith("WARNING:")]
    lines = [*console, *last_lines(folders.log, log_begins)]
    return "\n".join(f"  {line}" for line in lines) or "  (nothing was logged yet)"
