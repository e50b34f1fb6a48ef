"""A deployment of the compose file under a name of its own, which tests ask, restart and remove."""

import json
import os
import secrets
import ssl
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest

from tests.support.servers import free_port

ROOT = Path(__file__).parents[3]
LONG_RUNNING = ("opensearch", "postgres", "api")
ONE_SHOT = ("migrate", "sample")
CATALOGUE_ROWS = 35_911
"""Listings after which the sample has each row of data/catalogue.ndjson.gz once (data/SOURCES.md)."""
START_LIMIT = 600
"""Seconds: a first build with a slow network, and the start of both databases on a busy two-core machine."""


def require_engine() -> None:
    """Fails the test with how to get an engine where none answers."""
    for command in (["docker", "version", "--format", "{{.Server.Version}}"], ["docker", "compose", "version"]):
        try:
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
            reason = done.stderr.strip() if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = str(error)
        if reason:
            pytest.fail(
                f"`{' '.join(command)}` fails ({reason}): these tests need a running Docker engine with the compose "
                "plugin. Install Docker, or start its engine, or name it in DOCKER_HOST; or leave them out with "
                "`make test`",
                pytrace=False,
            )


@dataclass
class Deployment:
    """One project of docker-compose.yml, with a name, an image and a port that nothing else on the machine has."""

    name: str = field(default_factory=lambda: f"gear-test-{secrets.token_hex(4)}")
    port: int = field(default_factory=free_port)
    token: str = ""
    sample: bool = True  # whether the profile `sample` is asked for

    @property
    def image(self) -> str:
        """The name of the image that this deployment builds."""
        return f"gear:{self.name}"

    @property
    def url(self) -> str:
        """Where the API is published."""
        return f"http://127.0.0.1:{self.port}"

    def settings(self) -> dict[str, str]:
        """The variables of its file."""
        return {
            "GEAR_API_PORT": str(self.port),
            "GEAR_SAMPLE_COUNT": str(CATALOGUE_ROWS),
            "GEAR_POSTGRES_PASSWORD": "any/character@may:stand #in %41 it?",
        }

    def options(self) -> tuple[str, ...]:
        """The options of compose: files and profiles."""
        return ("--profile", "sample") if self.sample else ()

    def trusted(self) -> ssl.SSLContext | bool:
        """Whose certificate the API must have, where it has one."""
        return True

    def compose(self, *arguments: str, stdin: str | None = None, check: bool = True) -> str:
        """Runs `docker compose ARGUMENTS...` and returns its standard output; a failure ends the test with both."""
        # Settings of whoever runs the tests stay out: neither their `.env` nor their variables count.
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GEAR_", "COMPOSE_"))}
        environment |= {"GEAR_IMAGE": self.image, "GEAR_OPENSEARCH_HEAP": "512m", **self.settings()}
        command = ["docker", "compose", "--env-file", os.devnull, "--project-name", self.name]
        command += [*self.options(), *arguments]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, cwd=ROOT, env=environment, input=stdin or ""
        )
        if check and done.returncode:
            pytest.fail(
                f"`docker compose {' '.join(arguments)}` ended with {done.returncode}:\n{done.stdout[-800:]}"
                f"\n{done.stderr[-1500:]}",
                pytrace=False,
            )
        return done.stdout

    def up(self, *options: str) -> None:
        """Starts everything and returns once the one-shot jobs are done and the rest is healthy."""
        try:
            self.compose("up", "--detach", "--wait", "--wait-timeout", str(START_LIMIT), *options)
        except pytest.fail.Exception as failure:
            raise pytest.fail.Exception(f"{failure}\n{self.logs()}", pytrace=False) from None

    def logs(self, *services: str) -> str:
        """The last that the containers wrote."""
        lines = self.compose("logs", "--no-color", "--tail", "8", *services, check=False)
        return f"the containers said:\n{lines}"

    def remove(self) -> None:
        """Removes containers, networks, volumes and the image."""
        self.compose("down", "--volumes", "--remove-orphans", "--timeout", "20", check=False)
        subprocess.run(["docker", "image", "rm", "--force", self.image], check=False, capture_output=True)

    def remaining(self) -> list[str]:
        """What the engine still holds of this project: ids of containers, names of volumes and networks."""
        mine = f"label=com.docker.compose.project={self.name}"
        lists = (["ps", "--all", "--quiet"], ["volume", "ls", "--quiet"], ["network", "ls", "--quiet"])
        return [line for kind in lists for line in docker(*kind, "--filter", mine).split()]

    def inspect(self, service: str) -> dict[str, Any]:
        """What the engine knows of a service's container, running or ended."""
        identity = self.compose("ps", "--all", "--quiet", service).strip()
        response_json: list[dict[str, Any]] = json.loads(docker("inspect", identity))
        return response_json[0]

    def read(self, service: str, path: str) -> str:
        """A file of a running container."""
        return self.compose("exec", "--no-TTY", service, "cat", path)

    def new_token(self) -> str:
        """A token with the scopes `search` and `order`, made as docs/containers.md says."""
        created = self.compose(
            "exec", "--no-TTY", "api", "gear-api", "token", "create",
            "--name", "shop", "--scope", "search", "--scope", "order", "--json",
        )  # fmt: skip
        return str(json.loads(created)["token"])

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> httpx.Response:
        """One request with the token, over the published port."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.request(method, f"{self.url}{path}", json=body, headers=headers, timeout=30, verify=self.trusted())

    def search(self, **body: Any) -> dict[str, Any]:
        """The answer of a search that must succeed."""
        response = self.ask("POST", "/v1/gear/search", body)
        assert response.status_code == 200, f"{response.text}\n{self.logs('api')}"
        response_json: dict[str, Any] = response.json()
        return response_json

    def wait_until_ready(self, path: str = "/health/ready") -> None:
        """Returns once it answers 200; fails after START_LIMIT seconds."""
        deadline = monotonic() + START_LIMIT
        last = "nothing"
        while monotonic() < deadline:
            try:
                response = httpx.get(f"{self.url}{path}", timeout=10, verify=self.trusted())
            except httpx.TransportError as error:
                last = repr(error)
            else:
                if response.status_code == 200:
                    return
                last = response.text
            sleep(0.3)
        pytest.fail(f"the API did not get ready within {START_LIMIT} s; its last answer: {last}")


def docker(*arguments: str) -> str:
    """Runs `docker ARGUMENTS...` and returns its standard output."""
    done = subprocess.run(["docker", *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stderr}"
    return done.stdout
