"""Two hosts of one service, each a real `gear-api serve`, and which of them are ready, as a balancer knows it."""

import asyncio
import os
import signal
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import httpx

from tests.support.api.waiting import serves
from tests.support.servers import free_port

ROOT: Final = Path(__file__).parents[3]
COMMAND: Final = ("-c", "from api.cli.main import main; main()", "serve")
START_SECONDS: Final = 150.0
STOP_SECONDS: Final = 40.0
PROBE_SECONDS: Final = 0.1


@dataclass
class Host:
    """One address and the process behind it."""

    address: str
    environment: dict[str, str]
    log: Path
    process: Process | None = None
    is_ready: bool = False

    async def start(self) -> None:
        """Starts the process; it serves once a probe finds it ready."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                *COMMAND,
                env=self.environment,
                cwd=self.log.parent,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    async def stop(self) -> None:
        """SIGTERM, as a deployment sends it; the process ends by itself."""
        assert self.process is not None
        self.process.terminate()
        async with asyncio.timeout(STOP_SECONDS):
            code = await self.process.wait()
        assert code in (0, -signal.SIGTERM), f"the exit code is {code}, see {self.log}"

    def kill(self) -> None:
        """SIGKILL, for its workers too, if it runs."""
        self.is_ready = False
        if self.process is not None and self.process.returncode is None:
            os.killpg(self.process.pid, signal.SIGKILL)


@dataclass
class Hosts:
    """The hosts, and an address of one that is ready."""

    hosts: list[Host]
    chance: Random
    probes: dict[str, list[int]] = field(default_factory=dict)

    def address(self) -> str:
        """One that is ready, else any."""
        ready = [host for host in self.hosts if host.is_ready] or self.hosts
        return self.chance.choice(ready).address

    async def probe(self) -> None:
        """Asks each host without end whether it is ready."""
        async with httpx.AsyncClient(timeout=2) as client:
            while True:
                for host in self.hosts:
                    host.is_ready = await serves(client, host.address, "/health/ready")
                await asyncio.sleep(PROBE_SECONDS)

    async def until_ready(self, host: Host) -> None:
        """Waits until the probe found this host ready."""
        async with asyncio.timeout(START_SECONDS):
            while not host.is_ready:
                assert host.process is not None
                assert host.process.returncode is None, f"it ended by itself, see {host.log}"
                await asyncio.sleep(PROBE_SECONDS)

    async def restart_each(self) -> None:
        """A rolling restart: one host after the other, the next only when the one before serves again."""
        for host in self.hosts:
            await host.stop()
            host.is_ready = False
            await host.start()
            await self.until_ready(host)


@asynccontextmanager
async def running_hosts(variables: dict[str, str], folder: Path, seed: str) -> AsyncIterator[Hosts]:
    """Two hosts with these settings, ready, and probed while the context lasts."""
    hosts = []
    for _ in range(2):
        port = free_port()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables, "GEAR_API_PORT": str(port)}
        hosts.append(Host(f"http://127.0.0.1:{port}", environment, folder / f"serve-{port}.log"))
    service = Hosts(hosts, Random(f"{seed} hosts"))
    async with AsyncExitStack() as undo:
        for host in hosts:
            await host.start()
            undo.callback(host.kill)
        probing = asyncio.create_task(service.probe())
        undo.callback(probing.cancel)
        for host in hosts:
            await service.until_ready(host)
        yield service
