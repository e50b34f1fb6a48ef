"""A cluster of OpenSearch nodes in containers on loopback, whose nodes a test kills.

Several nodes need no more than one machine: each listens on ports of its own of 127.0.0.1, where the engine's checks of
a production start do not apply.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bench.clients.connection import request_json

IMAGE = "opensearchproject/opensearch:3.6.0"
START_SECONDS = 300.0  # three at once on two cores that others use too
GREEN_SECONDS = 200.0  # the engine waits 60 before it makes the lost copies anew
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Cluster:
    """So many nodes of one name; the first one's ports are `http` and `http` + 10, the next ones follow."""

    name: str
    http: int
    count: int

    @property
    def numbers(self) -> range:
        """The numbers of the nodes, from 1 on."""
        return range(1, self.count + 1)

    @property
    def addresses(self) -> list[str]:
        """The nodes' addresses."""
        return [self.address(number) for number in self.numbers]

    def address(self, number: int) -> str:
        """A node's address."""
        return f"http://127.0.0.1:{self.http + number - 1}"

    def node(self, number: int) -> str:
        """The name of the node and of its container."""
        return f"{self.name}-{number}"

    @contextmanager
    def running(self) -> Iterator[None]:
        """The cluster, new and empty, for as long as the context."""
        self._remove()
        try:
            for number in self.numbers:
                settings = [part for key, value in self._settings(number).items() for part in ("-e", f"{key}={value}")]
                _docker("run", "--detach", "--name", self.node(number), "--network", "host", *settings, IMAGE)
            for address in self.addresses:
                wait_for_health(address, lambda health: health.get("number_of_nodes") == self.count, START_SECONDS)
            yield
        finally:
            self._remove()

    def _settings(self, number: int) -> dict[str, str]:
        return {
            "cluster.name": self.name,
            "node.name": self.node(number),
            "network.host": "127.0.0.1",
            "http.port": str(self.http + number - 1),
            "transport.port": str(self.http + 9 + number),
            "discovery.seed_hosts": ",".join(f"127.0.0.1:{self.http + 9 + other}" for other in self.numbers),
            "cluster.initial_cluster_manager_nodes": ",".join(self.node(other) for other in self.numbers),
            "action.auto_create_index": "false",
            "OPENSEARCH_JAVA_OPTS": "-Xms512m -Xmx512m",
            "DISABLE_SECURITY_PLUGIN": "true",
            "DISABLE_INSTALL_DEMO_CONFIG": "true",
        }

    def victim(self, *, manager: bool) -> int:
        """The number of the node that manages the cluster, or of the first that does not."""
        elected = request_json("GET", f"{self.address(1)}/_cat/cluster_manager?format=json")[0]["node"]
        return next(number for number in self.numbers if (self.node(number) == elected) == manager)

    def kill(self, number: int) -> None:
        """Ends a node as a loss of power does."""
        _docker("kill", "--signal", "KILL", self.node(number))

    def revive(self, number: int) -> None:
        """Starts a killed node again, with what it has on disk."""
        _docker("start", self.node(number))

    def _remove(self) -> None:
        names = _docker("ps", "--all", "--filter", f"name=^/?{self.name}-[0-9]+$", "--format", "{{.Names}}").split()
        if names:
            _docker("rm", "--force", "--volumes", *names)


def wait_for_health(
    address: str, condition: Callable[[Mapping[str, Any]], bool], seconds: float = GREEN_SECONDS, index: str = ""
) -> float:
    """The monotonic time at which the health of the cluster, or of an index, first met the condition."""
    deadline = time.monotonic() + seconds
    while not condition(health := _health(address, index)):
        assert time.monotonic() < deadline, f"the cluster is not as it should be after {seconds:.0f} s: {health}"
        time.sleep(POLL_SECONDS)
    return time.monotonic()


def _health(address: str, index: str) -> Mapping[str, Any]:
    """The health that a node reports; empty where it does not answer."""
    try:
        health: Mapping[str, Any] = request_json("GET", f"{address}/_cluster/health/{index}")
    except OSError:
        return {}
    return health


def _docker(*arguments: str) -> str:
    program = shutil.which("docker")
    assert program is not None, "containers are needed for a cluster: install Docker and start its engine"
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {' '.join(arguments[:3])}: {done.stderr.strip()[-500:]}"
    return done.stdout
