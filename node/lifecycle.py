"""Settings go in; a started, stopped, reported or emptied node comes out.

Every command that changes the node holds the lock of its directory, so two starts at once become one start and
one "it runs already".
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from node import cluster, config, preflight, process
from node.account import server_account
from node.cluster import ClusterState
from node.errors import NodeError
from node.machine import check_this_platform, free_disk, free_memory, resident_bytes, started_at
from node.places import Places, check_ours, find_places, prepare, prepare_server
from node.record import Record, is_running, read_record, write_record
from node.runtime import JavaRuntime, find_runtime
from node.server import ensure_server
from node.settings import NodeSettings
from node.talk import Talk

_FAREWELL = 10
"""Seconds that a server whose start failed may take to end before it is killed."""


@dataclass(frozen=True)
class Started:
    """A node that answers; `already` when it did before we came."""

    record: Record
    places: Places
    already: bool


@dataclass(frozen=True)
class Status:
    """What is known of a node. `state` is running, starting (lives, does not answer yet) or stopped."""

    state: str
    places: Places
    record: Record | None
    stale: bool
    cluster: ClusterState | None
    resident: int | None
    disk_free: int


def places_of(settings: NodeSettings) -> Places:
    """The folders of the node that the settings mean."""
    return find_places(settings, server_account(settings.user))


def start(settings: NodeSettings, talk: Talk) -> Started:
    """Start the node, getting the server first if need be, and return once it answers. Raises NodeError."""
    check_this_platform()
    places = places_of(settings)
    prepare(places)
    with _locked(places.lock, places.home, None, talk):
        record = _living(places, talk)
        if record is not None:
            preflight.check_same(record, settings, places)
            living = record
            process.wait_ready(record.port, lambda: not is_running(living, places.home), places, settings.timeout)
            return Started(record=record, places=places, already=True)
        preflight.check_port(settings.port)
        preflight.check_memory(settings.heap, free_memory())
        preflight.check_disk(places.home, free_disk(places.home))
        with _locked(places.cache_lock, places.cache, None, talk):
            server = ensure_server(places, settings.repository, talk)
            runtime = find_runtime(settings.java_home, places, talk)
        return Started(record=_launch(settings, places, server, runtime, talk), places=places, already=False)


def stop(settings: NodeSettings, limit: float, talk: Talk) -> bool:
    """End the node, killing it after `limit` seconds. False when it did not run. Raises NodeError."""
    places = places_of(settings)
    if read_record(places.record) is None:
        return False
    with _locked(places.lock, places.home, settings.timeout, talk):
        return _stop(places, limit, talk)


def status(settings: NodeSettings) -> Status:
    """How the node is, without changing anything."""
    places = places_of(settings)
    record = read_record(places.record)
    alive = record is not None and is_running(record, places.home)
    state = cluster.cluster_state(record.port) if record is not None and alive else None
    return Status(
        state="running" if state is not None else ("starting" if alive else "stopped"),
        places=places,
        record=record if alive else None,
        stale=record is not None and not alive,
        cluster=state,
        resident=resident_bytes(record.pid) if record is not None and alive else None,
        disk_free=free_disk(places.home),
    )


def reset(settings: NodeSettings, limit: float, talk: Talk, *, downloads: bool) -> list[Path]:
    """End the node and delete its data, with `downloads` the cache too. The deleted folders. Raises NodeError."""
    places = places_of(settings)
    check_ours(places.home, "--dir or GEAR_NODE_DIR")
    check_ours(places.cache, "GEAR_NODE_CACHE")
    if downloads:
        preflight.check_unused(places)
    deleted = []
    if places.lock.exists():
        with _locked(places.lock, places.home, settings.timeout, talk):
            _stop(places, limit, talk)
            for folder in (places.data, places.logs, places.config, places.temporary):
                if folder.exists():
                    shutil.rmtree(folder)
                    deleted.append(folder)
            places.console.unlink(missing_ok=True)
    if downloads and places.cache_lock.exists():
        with _locked(places.cache_lock, places.cache, settings.timeout, talk):
            for entry in places.cache.iterdir():
                if entry.is_dir():
                    shutil.rmtree(entry)
                    deleted.append(entry)
    return deleted


@contextmanager
def _locked(lock: Path, subject: Path, limit: float | None, talk: Talk) -> Iterator[None]:
    """Hold the lock, telling when that means waiting. Raises NodeError when another command holds it beyond `limit`.

    `limit` is in seconds; None waits as long as it takes, because a start ends by its own time limit and a
    download by the network's.
    """
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout:
        talk.say(f"another gear-node command is at work in {subject}: waiting for it")
        try:
            held.acquire(timeout=-1 if limit is None else limit)
        except Timeout as error:
            msg = f"another gear-node command is still at work in {subject} after {limit} s: nothing was done"
            raise NodeError(msg) from error
    try:
        yield
    finally:
        held.release()


def _living(places: Places, talk: Talk) -> Record | None:
    """The record of the process that runs this node; a stale pid file is told and removed."""
    record = read_record(places.record)
    if record is None or is_running(record, places.home):
        return record
    reused = " (another process has that number now)" if started_at(record.pid) is not None else ""
    talk.say(f"the pid file {places.record} is stale: process {record.pid} is gone{reused}; removing it")
    places.record.unlink()
    return None


def _launch(settings: NodeSettings, places: Places, server: Path, runtime: JavaRuntime, talk: Talk) -> Record:
    """Configure and start the process, write the pid file and wait until the node answers."""
    prepare_server(places)
    yml = config.opensearch_yml(data=places.data, logs=places.logs, port=settings.port)
    (places.config / "opensearch.yml").write_text(yml, encoding="utf-8")
    (places.config / "log4j2.properties").write_text(config.log4j2_properties())
    launch = config.Launch(
        java=runtime.java,
        java_major=runtime.major,
        server=server,
        home=places.home,
        heap=settings.heap,
        jvm=settings.jvm,
    )
    command = config.java_command(launch, (server / "config" / "jvm.options").read_text())
    talk.say(f"starting OpenSearch on port {settings.port} (Java {runtime.major}, heap {settings.heap})")
    log_begins = places.log.stat().st_size if places.log.exists() else 0
    child = process.launch(command, places)
    record = Record(
        pid=child.pid,
        started=started_at(child.pid) or 0.0,
        port=settings.port,
        heap=settings.heap,
        jvm=settings.jvm,
        java=str(runtime.home),
    )
    ready = False
    try:
        write_record(places.record, record)
        process.wait_ready(
            settings.port, lambda: child.poll() is not None, places, settings.timeout, log_begins=log_begins
        )
        ready = True
    finally:
        # A start that failed or was interrupted leaves no process behind, except one that answers (with a red
        # cluster): whoever wants to repair that needs it running.
        if not ready and not (child.poll() is None and cluster.is_ours(settings.port)):
            process.end(child.pid, _FAREWELL)
            child.wait()
            places.record.unlink(missing_ok=True)
    return record


def _stop(places: Places, limit: float, talk: Talk) -> bool:
    """`stop` for a caller that holds the lock."""
    record = _living(places, talk)
    if record is None:
        return False
    if not process.end(record.pid, limit):
        talk.say(f"process {record.pid} did not end within {limit:.0f} s and was killed")
    places.record.unlink(missing_ok=True)
    return True
