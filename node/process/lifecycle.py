"""Starts, stops, reports and resets a node.

Every command that changes the node holds the lock of its directory, so two starts at once become one start and
one "it runs already".
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from node.errors import NodeError
from node.folders import Folders, check_ours, find_folders, prepare, prepare_server
from node.machine.account import server_account
from node.machine.system import check_this_platform, free_disk, free_memory, resident_bytes, started_at
from node.process import cluster, config, daemon, preflight
from node.process.cluster import ClusterState
from node.process.record import Record, is_running, read_record, write_record
from node.server.install import ensure_server
from node.server.java import find_java_home
from node.settings import NodeSettings

_STOP_SECONDS = 10
"""Seconds that a server whose start failed may take to end before it is killed."""


@dataclass(frozen=True)
class Status:
    """What is known of a node. `state` is running, starting (lives, does not answer yet) or stopped."""

    state: str
    folders: Folders
    record: Record | None
    stale: bool
    cluster: ClusterState | None
    resident: int | None
    disk_free: int


def folders_of(settings: NodeSettings) -> Folders:
    return find_folders(settings, server_account(settings.user))


def start(settings: NodeSettings, say: Callable[[str], None]) -> tuple[Record, bool]:
    """Start the node, getting the server first if need be, and return once it answers; with it, whether it did before.

    Raises NodeError.
    """
    check_this_platform()
    folders = folders_of(settings)
    prepare(folders)
    with _locked(folders.lock, folders.home, None, say):
        record = _running_record(folders, say)
        if record is not None:
            preflight.check_same(record, settings, folders)
            daemon.wait_ready(record.port, lambda: not is_running(record, folders.home), folders, settings.timeout)
            return record, True
        preflight.check_port(settings.port)
        preflight.check_memory(settings.heap, free_memory())
        preflight.check_disk(folders.home, free_disk(folders.home))
        with _locked(folders.cache_lock, folders.cache, None, say):
            server = ensure_server(folders, settings.repository, say)
            java_home = find_java_home(folders, say)
        return _launch(settings, folders, server, java_home, say), False


def stop(settings: NodeSettings, limit: float, say: Callable[[str], None]) -> bool:
    """End the node, killing it after `limit` seconds. False when it did not run. Raises NodeError."""
    folders = folders_of(settings)
    if read_record(folders.record) is None:
        return False
    with _locked(folders.lock, folders.home, settings.timeout, say):
        return _stop(folders, limit, say)


def status(settings: NodeSettings) -> Status:
    """How the node is; changes nothing."""
    folders = folders_of(settings)
    record = read_record(folders.record)
    alive = record is not None and is_running(record, folders.home)
    state = cluster.cluster_state(record.port) if record is not None and alive else None
    return Status(
        state="running" if state is not None else ("starting" if alive else "stopped"),
        folders=folders,
        record=record if alive else None,
        stale=record is not None and not alive,
        cluster=state,
        resident=resident_bytes(record.pid) if record is not None and alive else None,
        disk_free=free_disk(folders.home),
    )


def reset(settings: NodeSettings, limit: float, say: Callable[[str], None]) -> bool:
    """End the node and delete its data. False where there was nothing to delete. Raises NodeError."""
    folders = folders_of(settings)
    check_ours(folders.home, "--dir or GEAR_NODE_DIR")
    if not folders.lock.exists():
        return False
    with _locked(folders.lock, folders.home, settings.timeout, say):
        _stop(folders, limit, say)
        present = [path for path in folders.of_server if path.exists()]
        for folder in present:
            shutil.rmtree(folder)
        folders.console.unlink(missing_ok=True)
    return bool(present)


@contextmanager
def _locked(lock: Path, subject: Path, limit: float | None, say: Callable[[str], None]) -> Iterator[None]:
    """Holds the lock, and says so when it waits. Raises NodeError when another command holds it beyond `limit`.

    `limit` is in seconds; None waits as long as it takes, because a start ends by its own time limit and a
    download by the network's.
    """
    from filelock import FileLock, Timeout

    file_lock = FileLock(lock)
    try:
        file_lock.acquire(timeout=0)
    except Timeout:
        say(f"another gear-node command is at work in {subject}: waiting for it")
        try:
            file_lock.acquire(timeout=-1 if limit is None else limit)
        except Timeout as error:
            msg = f"another gear-node command is still at work in {subject} after {limit} s: nothing was done"
            raise NodeError(msg) from error
    try:
        yield
    finally:
        file_lock.release()


def _running_record(folders: Folders, say: Callable[[str], None]) -> Record | None:
    """The record of the process that runs this node; a stale pid file is reported and removed."""
    record = read_record(folders.record)
    if record is None or is_running(record, folders.home):
        return record
    reused = " (another process has that number now)" if started_at(record.pid) is not None else ""
    say(f"the pid file {folders.record} is stale: process {record.pid} is gone{reused}; removing it")
    folders.record.unlink()
    return None


def _launch(
    settings: NodeSettings, folders: Folders, server: Path, java_home: Path, say: Callable[[str], None]
) -> Record:
    """Configure and start the process, write the pid file and wait until the node answers."""
    prepare_server(folders)
    yml = config.opensearch_yml(
        data=folders.data, logs=folders.logs, snapshots=folders.snapshots, port=settings.port, jvm=settings.jvm
    )
    (folders.config / "opensearch.yml").write_text(yml, encoding="utf-8")
    (folders.config / "log4j2.properties").write_text(config.LOG4J2_PROPERTIES)
    heap, jvm = settings.heap, settings.jvm
    command = config.java_command(java_home, server, folders.home, heap=heap, jvm=jvm)
    say(f"starting OpenSearch on port {settings.port} (heap {heap})")
    log_begins = folders.log.stat().st_size if folders.log.exists() else 0
    child = daemon.launch(command, folders)
    started = started_at(child.pid) or 0.0
    record = Record(child.pid, started, settings.port, heap, jvm, java=str(java_home))
    ready = False
    try:
        write_record(folders.record, record)
        daemon.wait_ready(
            settings.port, lambda: child.poll() is not None, folders, settings.timeout, log_begins=log_begins
        )
        ready = True
    finally:
        # A start that failed or was interrupted leaves no process behind, except one that answers (with a red
        # cluster): whoever wants to repair that needs it running.
        if not ready and not (child.poll() is None and cluster.is_ours(settings.port)):
            daemon.end(child.pid, _STOP_SECONDS)
            child.wait()
            folders.record.unlink(missing_ok=True)
    return record


def _stop(folders: Folders, limit: float, say: Callable[[str], None]) -> bool:
    """`stop` for a caller that holds the lock."""
    record = _running_record(folders, say)
    if record is None:
        return False
    if not daemon.end(record.pid, limit):
        say(f"process {record.pid} did not end within {limit:.0f} s and was killed")
    folders.record.unlink(missing_ok=True)
    return True
