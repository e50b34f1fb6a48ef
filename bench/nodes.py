"""Engines of the bench's own: how many nodes and their settings in, OpenSearch in containers on loopback out.

A cluster of several nodes needs no more than one machine: each listens on ports of its own of 127.0.0.1, where the
engine's checks of a production start do not apply.
"""

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.error import URLError

from bench.peers.connection import ask

IMAGE: Final = "opensearchproject/opensearch:3.6.0"
START_SECONDS: Final = 300.0  # three at once on two cores that others use too
NEEDED: Final = "containers are needed for nodes of the bench's own: install Docker and start its engine"


@dataclass(frozen=True)
class Cluster:
    """So many nodes of one name; the first one's ports are `http` and `http` + 10, the next ones follow."""

    name: str
    http: int
    count: int

    @property
    def numbers(self) -> range:
        """What the nodes are called by, from 1 on."""
        return range(1, self.count + 1)

    @property
    def addresses(self) -> list[str]:
        """Where the nodes answer."""
        return [self.address(number) for number in self.numbers]

    def address(self, number: int) -> str:
        """Where a node answers."""
        return f"http://127.0.0.1:{self.http + number - 1}"

    def node(self, number: int) -> str:
        """The container's name and the node's."""
        return f"{self.name}-{number}"

    def start(self, heap: str = "512m", settings: Mapping[str, str] | None = None) -> None:
        """Starts it anew and empty; returns once all have joined. Raises RuntimeError where they do not."""
        self.stop()
        for number in self.numbers:
            held = {**self._settings(number), **(settings or {})}
            given = [part for key, value in held.items() for part in ("--env", f"{key}={value}")]
            java = ["--env", f"OPENSEARCH_JAVA_OPTS=-Xms{heap} -Xmx{heap}"]
            _docker("run", "--detach", "--name", self.node(number), "--network", "host", *given, *java, IMAGE)
        until = time.monotonic() + START_SECONDS
        while any(health(address).get("number_of_nodes") != self.count for address in self.addresses):
            if time.monotonic() > until:
                message = f"{self.count} nodes are no cluster after {START_SECONDS:.0f} s: `docker logs {self.node(1)}`"
                raise RuntimeError(message)
            time.sleep(0.5)

    def _settings(self, number: int) -> dict[str, str]:
        hosts = ",".join(f"127.0.0.1:{self.http + 9 + one}" for one in self.numbers)
        names = ",".join(self.node(one) for one in self.numbers)
        several = {"discovery.seed_hosts": hosts, "cluster.initial_cluster_manager_nodes": names}
        return {
            "cluster.name": self.name,
            "node.name": self.node(number),
            "network.host": "127.0.0.1",
            "http.port": str(self.http + number - 1),
            "transport.port": str(self.http + 9 + number),
            "action.auto_create_index": "false",
            "indices.requests.cache.size": "5%",
            "DISABLE_SECURITY_PLUGIN": "true",
            "DISABLE_INSTALL_DEMO_CONFIG": "true",
            **(several if self.count > 1 else {"discovery.type": "single-node"}),
        }

    def kill(self, number: int) -> None:
        """Ends a node as a loss of power does."""
        _docker("kill", "--signal", "KILL", self.node(number))

    def revive(self, number: int) -> None:
        """Starts a node again that was killed, with what it has on disk."""
        _docker("start", self.node(number))

    def stop(self) -> None:
        """Removes all its nodes with their data."""
        names = _docker("ps", "--all", "--filter", f"name=^/?{self.name}-[0-9]+$", "--format", "{{.Names}}").split()
        if names:
            _docker("rm", "--force", "--volumes", *names)

    @contextmanager
    def running(self, settings: Mapping[str, str] | None = None) -> Iterator[None]:
        """The cluster, new and empty, for as long as the context."""
        try:
            self.start(settings=settings)
            yield
        finally:
            self.stop()


SEVERAL: Final = Cluster("gear-bench", 9411, 3)
ALONE: Final = Cluster("gear-bench-alone", 9451, 1)


def health(address: str, index: str = "") -> dict[str, Any]:
    """What a node says of the cluster, or of one index in it; empty where it does not answer."""
    try:
        found: dict[str, Any] = ask("GET", f"{address}/_cluster/health/{index}")
    except (URLError, OSError):
        return {}
    return found


def _docker(*arguments: str) -> str:
    program = shutil.which("docker")
    if program is None:
        raise RuntimeError(NEEDED)
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        message = f"docker {' '.join(arguments[:3])}: {done.stderr.strip()[-500:]}"
        raise RuntimeError(message)
    return done.stdout
