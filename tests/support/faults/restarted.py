"""`gear-api serve` on a port of its own, started and told to stop again and again."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

import httpx

from api.settings import Settings
from tests.support.api.waiting import serves
from tests.support.app import new_token
from tests.support.servers import free_port
from tests.support.store.migrated import migrated

DRAIN_SECONDS = 1.5
START_SECONDS = 150.0  # a busy machine takes a minute for two workers


class Server:
    """`gear-api serve` on one port, started again and again."""

    def __init__(self, settings: Settings, workers: int, drain_seconds: float, log: Path) -> None:
        self.port = free_port()
        self._workers = workers
        self._log = log
        self._environment = {
            **os.environ,
            **{f"GEAR_{name.upper()}": str(getattr(settings, name)) for name in settings.model_fields_set},
            "GEAR_DRAIN_SECONDS": str(drain_seconds),
        }
        self.process: Process | None = None

    async def start(self) -> None:
        """Starts it, and waits until it is ready."""
        command = [str(Path(sys.executable).parent / "gear-api"), "serve", "--port", str(self.port)]
        with self._log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *command, "--workers", str(self._workers), env=self._environment, stderr=log
            )
        deadline = monotonic() + START_SECONDS
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self.port}", timeout=30) as client:
            while monotonic() < deadline and self.process.returncode is None:
                if await serves(client, path="/health/ready"):
                    return
                await asyncio.sleep(0.1)
        raise AssertionError("the server is not ready")

    async def stop(self) -> None:
        """Tells it to stop, and waits until it has."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            await self.process.wait()


@asynccontextmanager
async def serving(
    settings: Settings, workers: int, drain_seconds: float = DRAIN_SECONDS, log: Path = Path(os.devnull)
) -> AsyncIterator[Server]:
    """A started server."""
    server = Server(settings, workers, drain_seconds, log)
    try:
        await server.start()
        yield server
    finally:
        await server.stop()


async def token_of(settings: Settings) -> dict[str, str]:
    """The header with a token of a database that is there."""
    await migrated(settings.database_url)
    return {"Authorization": f"Bearer {await new_token(settings.database_url, 'search')}"}
