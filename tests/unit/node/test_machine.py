"""What stands in the way of a node is told clearly: the platform, a port, memory, disk."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from node.errors import NodeError
from node.machine.system import (
    Memory,
    check_platform,
    check_this_platform,
    free_disk,
    free_memory,
    is_same_process,
    port_is_taken,
    port_owner,
    resident_bytes,
    started_at,
)
from node.process import preflight
from node.server.install import check_disk


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [("linux", "x86_64", "glibc"), ("linux", "aarch64", "glibc"), ("darwin", "arm64", ""), ("darwin", "x86_64", "")],
)
def test_linux_and_macos_on_both_processors_are_fine(system: str, machine: str, libc: str) -> None:
    check_platform(system, machine, libc)


def test_this_machine_is_fine() -> None:
    check_this_platform()


@pytest.mark.parametrize(
    ("system", "machine", "libc", "missing"),
    [
        ("win32", "AMD64", "", "this is win32"),
        ("linux", "riscv64", "glibc", "this machine is riscv64"),
        ("linux", "", "glibc", "this machine is unknown"),
        ("linux", "x86_64", "", "needs a Linux with glibc"),
    ],
)
def test_elsewhere_it_says_what_is_missing_and_what_to_do(system: str, machine: str, libc: str, missing: str) -> None:
    with pytest.raises(NodeError, match=missing) as caught:
        check_platform(system, machine, libc)
    assert "Run OpenSearch there in a container" in str(caught.value)


def test_a_taken_port_is_reported_with_its_holder_and_the_option() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        assert port_is_taken(port)
        with pytest.raises(NodeError) as caught:
            preflight.check_port(port)
    assert f"port {port} of 127.0.0.1 is taken by " in str(caught.value)
    assert f"(pid {os.getpid()})" in str(caught.value)
    assert "choose another with --port or GEAR_NODE_PORT" in str(caught.value)


def test_a_port_that_is_bound_but_silent_is_taken_too() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        assert port_is_taken(holder.getsockname()[1])


def test_a_free_port_is_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
    assert not port_is_taken(port)
    assert port_owner(port) is None
    preflight.check_port(port)


def test_too_little_memory_is_reported_with_the_way_out() -> None:
    preflight.check_memory("512m", Memory(available=2 * 1024**3, limited_by="this machine"))
    with pytest.raises(NodeError, match=r"this container has 600 MB of memory free, .* 512m needs 768 MB.*--heap"):
        preflight.check_memory("512m", Memory(available=600 * 1024**2, limited_by="this container"))


def test_too_little_disk_is_reported_with_what_would_happen(tmp_path: Path) -> None:
    preflight.check_disk(tmp_path, 3 * 1024**3)
    with pytest.raises(NodeError, match=r"has 1\.5 GB free.*read-only.*--dir"):
        preflight.check_disk(tmp_path, 3 * 1024**3 // 2)
    with pytest.raises(NodeError, match=r"has 100 MB free, and fetching and unpacking OpenSearch takes 406 MB"):
        check_disk(tmp_path, 100_000_000)


@pytest.mark.parametrize(
    ("folder", "limit", "usage", "prefix"),
    [
        ("", "memory.max", "memory.current", ""),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ],
    ids=["version 2", "version 1"],
)
def test_memory_is_what_the_container_leaves(tmp_path: Path, folder: str, limit: str, usage: str, prefix: str) -> None:
    group = tmp_path / folder
    group.mkdir(exist_ok=True)
    (group / limit).write_text("1000000\n")
    (group / usage).write_text("900000\n")
    (group / "memory.stat").write_text(f"anon 1\n{prefix}inactive_file 200000\n{prefix}active_file 300000\n")
    assert free_memory(tmp_path) == Memory(available=600_000, limited_by="this container")
    (group / limit).write_text("max\n")
    assert free_memory(tmp_path).limited_by == "this machine"
    assert free_memory(tmp_path / "none").available > 0


def test_disk_is_asked_of_the_nearest_folder_that_exists(tmp_path: Path) -> None:
    assert free_disk(tmp_path / "not" / "yet") > 0


def test_a_process_is_known_by_its_start_or_by_its_mark() -> None:
    command = [sys.executable, "-c", "print(flush=True); input()", "a-mark-of-this-test"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()  # it runs, so the system knows its arguments
        began = started_at(child.pid)
        assert began is not None
        assert is_same_process(child.pid, began, "another mark")
        assert is_same_process(child.pid, began - 3600, "a-mark-of-this-test"), "the clock was set since the start"
        assert not is_same_process(child.pid, began - 3600, "another mark"), "the number is used again"
        assert (resident_bytes(child.pid) or 0) > 0
    finally:
        child.communicate(b"\n")
    assert started_at(child.pid) is None
    assert not is_same_process(child.pid, began, "a-mark-of-this-test")
    assert resident_bytes(child.pid) is None
