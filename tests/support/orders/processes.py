"""Real processes of the service: settings go in, `gear-api serve` behind a port, and what it wrote, come out."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from api.settings import Settings
from tests.support.servers import free_port

ROOT = Path(__file__).parents[3]
SERVE = ("-c", "from api.cli.main import main; main()", "serve")
DIE_AFTER_THE_COMMIT = ("-m", "tests.support.orders.dying_server")


@dataclass
class Worker:
    """One process and a client of it."""

    client: httpx.AsyncClient
    process: asyncio.subprocess.Process
    written: Path = field(repr=False)

    async def kill(self) -> None:
        """Ends it as a power cut would."""
        self.process.kill()
        await self.process.wait()


@asynccontextmanager
async def worker(
    settings: Settings, folder: Path, token: str, program: tuple[str, ...] = SERVE
) -> AsyncIterator[Worker]:
    """A process that serves with these settings; what it writes goes to a file of the folder."""
    port = free_port()
    written = folder / f"worker-{port}.log"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_DATABASE_URL": settings.database_url,
        "GEAR_PUBLIC_URL": settings.public_url,
        "GEAR_FEE_RATE": str(settings.fee_rate),
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_API_PORT": str(port),
    }
    with written.open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *program, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            await _until_it_answers(client, process, written)
            yield Worker(client, process, written)
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _until_it_answers(client: httpx.AsyncClient, process: asyncio.subprocess.Process, written: Path) -> None:
    while process.returncode is None:
        try:
            if (await client.get("/health/live")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.05)
    raise AssertionError(f"the process ended, see {written}")
