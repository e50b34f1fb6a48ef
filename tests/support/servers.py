"""Real servers for the tests: an OpenSearch, a node to break, a wire to cut.

An OpenSearch comes from GEAR_OPENSEARCH_URL, else from a container where a Docker engine answers and has (or can
pull) the image, else from gear-node. Where none can be had the test fails and says how to get one.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from time import monotonic, sleep

import pytest

from node.machine.system import port_is_taken
from node.process.lifecycle import folders_of
from node.settings import read_settings
from tests.support.memory import memory_for_tests
from tests.support.services.wire import TcpProxy

__all__ = ["NoServerError", "Node", "TcpProxy", "disposable_node", "free_port", "opensearch_url"]

OPENSEARCH_IMAGE = "opensearchproject/opensearch:3.6.0"
_START_LIMIT = 180
"""Seconds: a busy two-core machine starts OpenSearch in 30."""


_CONTAINER_SETTINGS = {
    "discovery.type": "single-node",
    "action.auto_create_index": "false",  # as gear-node and production have it
    "DISABLE_SECURITY_PLUGIN": "true",
    "DISABLE_INSTALL_DEMO_CONFIG": "true",
    "OPENSEARCH_JAVA_OPTS": "-Xms1g -Xmx1g",
}
_SHARED_PORT = 9219
"""Where the shared node listens unless the port is taken."""


class NoServerError(Exception):
    """This way to a server is closed; the text says why."""


@contextmanager
def opensearch_url() -> Iterator[str]:
    """The address of a real OpenSearch, which ends with the context if it was started for it."""
    url = os.environ.get("GEAR_OPENSEARCH_URL")
    if url:
        yield url
        return
    reasons = []
    for way in (_container, _shared_node):
        server = way()
        try:
            url = server.__enter__()
        except NoServerError as error:
            reasons.append(str(error))
            _tell(f"{error}; trying the next way to an OpenSearch")
            continue
        try:
            yield url
        finally:
            server.__exit__(None, None, None)
        return
    pytest.fail(
        "there is no OpenSearch for the tests: " + "; ".join(reasons) + ". Start one and name it in "
        "GEAR_OPENSEARCH_URL, or start Docker, or see why `gear-node start` fails here",
        pytrace=False,
    )


def _tell(sentence: str) -> None:
    sys.stderr.write(f"tests/support/servers.py: {sentence}\n")


def _docker_listens() -> bool:
    """Whether something listens where Docker's engine does; asked first, since its client leaks where nothing does."""
    address = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if not address.startswith("unix://"):
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address.removeprefix("unix://")) == 0


@contextmanager
def _container() -> Iterator[str]:
    """An OpenSearch container of testcontainers, removed afterwards."""
    if not _docker_listens():
        raise NoServerError("no container, because no Docker engine is open to this user")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what libraries say on import is not ours to mend
        docker = import_module("docker")  # ships no types
        from requests import RequestException
        from testcontainers.core.container import DockerContainer

    faults = (docker.errors.DockerException, RequestException)
    try:
        client = docker.from_env(timeout=120)
        try:
            if not client.images.list(OPENSEARCH_IMAGE):
                client.images.pull(OPENSEARCH_IMAGE)
        finally:
            client.close()
    except faults as error:
        msg = f"no container, because Docker does not answer or cannot pull {OPENSEARCH_IMAGE} ({str(error)[:200]})"
        raise NoServerError(msg) from error
    container = DockerContainer(OPENSEARCH_IMAGE, env=dict(_CONTAINER_SETTINGS), ports=[9200])
    try:
        try:
            container.start()
        except faults as error:
            msg = f"no container ({str(error)[:200]}; TESTCONTAINERS_RYUK_DISABLED=true needs no reaper)"
            raise NoServerError(msg) from error
        url = f"http://{container.get_container_host_ip()}:{container.get_exposed_port(9200)}"
        wait_for_opensearch(url)
        yield url
    finally:
        container.stop()


def wait_for_opensearch(url: str) -> None:
    """Return once the cluster is yellow or green. Raises NoServerError after three minutes."""
    deadline = monotonic() + _START_LIMIT
    while monotonic() < deadline:
        try:
            with urllib.request.urlopen(
                f"{url}/_cluster/health?wait_for_status=yellow&timeout=1s", timeout=5
            ) as response:
                if json.load(response)["status"] in ("yellow", "green"):
                    return
        except (OSError, ValueError):
            pass
        sleep(0.2)
    msg = f"OpenSearch did not get ready at {url} within {_START_LIMIT} s"
    raise NoServerError(msg)


def folder_for_tests(name: str) -> Path:
    """A node directory for tests that the account which runs the server can read."""
    memory = memory_for_tests()
    if memory is not None:
        return memory / f"test-{name}"
    return folders_of(read_settings()).home.with_name(f"test-{name}")


@contextmanager
def _shared_node() -> Iterator[str]:
    """A node of gear-node that all test runs of this machine share; the last one to leave stops it.

    Every run holds a shared lock, which ends with its process, however that ends.
    """
    home = folder_for_tests("node")
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_name("test-node.users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        # Several processes of tests use it for minutes: the whole compiler saves a quarter of the engine's time.
        node = Node(home, _port_of(home), heap="1g", jvm="full")
        node.start()
        try:
            yield node.url
        finally:
            if not os.environ.get("GEAR_TEST_KEEP_NODE"):
                _stop_if_last(node, users.fileno())


def _port_of(home: Path) -> int:
    """The port of the node that runs there, else the usual one, else a free one."""
    running = json.loads(Node(home, 0).command("status", "--json", check=False).stdout)["port"]
    if running is not None:
        return int(running)
    return free_port() if port_is_taken(_SHARED_PORT) else _SHARED_PORT


def _stop_if_last(node: "Node", users: int) -> None:
    """Stop the node unless another test run holds the lock too."""
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    node.stop()


class Node:
    """A node of gear-node in its own directory and on its own port, run by the real command line."""

    def __init__(self, home: Path, port: int, heap: str = "512m", jvm: str = "laptop") -> None:
        self.home = home
        self.port = port
        self.heap = heap
        self.jvm = jvm

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers. Raises NoServerError with what gear-node said."""
        memory = ("--heap", self.heap, "--jvm", self.jvm)
        self.command("start", "--port", str(self.port), *memory, "--timeout", str(_START_LIMIT))

    def stop(self) -> None:
        """End it in good order; its data stay."""
        self.command("stop")

    def kill(self) -> None:
        """End it as a power cut would, and wait until it is gone."""
        pid = json.loads(self.command("status", "--json", check=False).stdout)["pid"]
        os.kill(pid, signal.SIGKILL)
        while json.loads(self.command("status", "--json", check=False).stdout)["pid"] is not None:
            sleep(0.1)

    def remove(self) -> None:
        """End it and delete its data and its directory."""
        self.command("reset", "--yes")
        if self.home.exists():
            for file in self.home.iterdir():
                file.unlink()
            self.home.rmdir()

    def command(self, verb: str, *options: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run `gear-node VERB --dir HOME OPTIONS...` and give what it printed.

        Raises NoServerError when it failed, unless `check` is False.
        """
        done = subprocess.run(
            [sys.executable, "-c", "from node.cli import main; main()", verb, "--dir", str(self.home), *options],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if check and done.returncode:
            msg = f"gear-node {verb} failed with exit code {done.returncode}: {done.stderr.strip()}"
            raise NoServerError(msg)
        return done


@contextmanager
def disposable_node(name: str) -> Iterator[Node]:
    """A started node of the test's own, to stop, kill and start again; deleted afterwards. `name` keeps runs apart."""
    node = Node(folder_for_tests(f"{name}-{os.getpid()}"), free_port(), heap="256m")
    try:
        node.start()
        yield node
    finally:
        node.remove()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
