"""A deployment of compose.production.yml under a name of its own, which tests ask, break and roll over."""

import json
import secrets
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.support.compose.deployment import ROOT, Deployment, docker
from tests.support.compose.stand_ins import of_debian, secured_opensearch
from tests.support.traffic import client_of

OVERRIDE = Path(__file__).with_name("production.override.yml")
ENGINES = ",".join(f"https://opensearch-{number}:920{number - 1}" for number in (1, 2, 3))
SUBNET = f"10.{200 + secrets.randbelow(50)}.{secrets.randbelow(250)}.0/24"


@dataclass
class Production(Deployment):
    """One project of compose.production.yml."""

    folder: Path = Path()
    images: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where the proxy is published."""
        return f"https://localhost:{self.port}"

    def prepare(self) -> None:
        """Makes secrets and certificates, and the images that the engine lacks."""
        subprocess.run([ROOT / "deploy" / "secrets.sh", self.folder, "localhost"], check=True, capture_output=True)
        self.images = {
            "GEAR_OPENSEARCH_IMAGE": secured_opensearch(),
            "GEAR_POSTGRES_IMAGE": "postgres:17",
            "GEAR_REDIS_IMAGE": of_debian("redis:7.4-bookworm", "redis-server"),
            "GEAR_PROXY_IMAGE": of_debian("haproxy:3.2-bookworm", "haproxy"),
        }
        Deployment(name=self.name).compose("build")

    def settings(self) -> dict[str, str]:
        """The variables of its file."""
        return {
            **self.images,
            "GEAR_SECRETS": str(self.folder),
            "GEAR_PUBLIC_URL": self.url,
            "GEAR_PROXY_ADDRESS": "127.0.0.1",
            "GEAR_PROXY_PORT": str(self.port),
            "GEAR_PROXY_SUBNET": SUBNET,
            "GEAR_OPENSEARCH_URL": ENGINES,
            "GEAR_OPENSEARCH_MEMORY_LOCK": "false",
            "GEAR_RATE_LIMIT": "1000/second",
            "GEAR_ADDRESS_RATE_LIMIT": "1000/second",
        }

    def options(self) -> tuple[str, ...]:
        """The file and its profiles."""
        files = ("--file", "compose.production.yml", "--file", str(OVERRIDE))
        return (*files, "--profile", "engine", "--profile", "database")

    def trusted(self) -> ssl.SSLContext | bool:
        """The authority that made the proxy's certificate."""
        return ssl.create_default_context(cafile=str(self.folder / "ca.pem"))

    def containers(self, service: str) -> list[str]:
        """The ids of a service's containers."""
        return self.compose("ps", "--quiet", service).split()

    def stopped(self, service: str) -> int:
        """Stops a service; the exit code of its first container."""
        container = self.containers(service)[0]
        self.compose("stop", service)
        return int(json.loads(docker("inspect", container))[0]["State"]["ExitCode"])

    def load(self, items: list[dict[str, Any]]) -> None:
        """Loads a catalogue as docs/deployment.md says."""
        stdin = "".join(f"{json.dumps(item)}\n" for item in items)
        command = ("gear-indexer", "load", "-", "--platform", "730", "--quiet", "--min-share", "0")
        self.compose("run", "--rm", "--no-TTY", "indexer", *command, stdin=stdin)

    def client(self) -> httpx.Client:
        """A client of the proxy with a connection of its own."""
        return client_of(self.url, {"Authorization": f"Bearer {self.token}"}, self.trusted())

    @contextmanager
    def killed(self, service: str) -> Iterator[None]:
        """Within it one container of the service is gone; started again afterwards."""
        container = self.containers(service)[0]
        docker("kill", container)
        try:
            yield
        finally:
            docker("start", container)

    def engine_status(self) -> str:
        """What the engine says of its copies, asked as the user that loads; empty while it does not answer."""
        password = (self.folder / "opensearch_loader_password").read_text(encoding="utf-8").strip()
        asking = ["curl", "-sS", "--cacert", "config/certificates/ca.pem", "--user", f"gear-loader:{password}"]
        response = self.compose(
            "exec", "--no-TTY", "opensearch-3", *asking, "https://localhost:9200/_cluster/health", check=False
        )
        return str(json.loads(response).get("status", "")) if response.startswith("{") else ""


def health(container: str) -> str:
    """What the engine says of a container; `healthy` where nothing is checked and it runs."""
    state = json.loads(docker("inspect", container))[0]["State"]
    running = "healthy" if state["Status"] == "running" else str(state["Status"])
    return str(state.get("Health", {}).get("Status", running))
