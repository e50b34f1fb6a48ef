"""Real processes of the service: `gear-api serve` at a port, and what it wrote."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from api.settings import Settings
from tests.support.servers import free_port
from tests.support.services.processes import Command, command, gear_api


@dataclass(frozen=True)
class Worker:
    """One process and a client of it."""

    client: httpx.AsyncClient
    process: Command


def variables(settings: Settings) -> dict[str, str]:
    """The environment variables of a command that does the work of these settings."""
    return {
        "GEAR_OPENSEARCH_URL": settings.opensearch_url,
        "GEAR_INDEX_PREFIX": settings.index_prefix,
        "GEAR_DATABASE_URL": settings.database_url,
        "GEAR_PUBLIC_URL": settings.public_url,
        "GEAR_FEE_RATE": str(settings.fee_rate),
        "GEAR_SEARCH_TIMEOUT": "30",
        "GEAR_RATE_LIMIT": "",
        "GEAR_ADDRESS_RATE_LIMIT": "",
        "GEAR_DRAIN_SECONDS": "0",
    }


@asynccontextmanager
async def worker(
    settings: Settings, folder: Path, token: str, *, program: Callable[..., None] = gear_api, **more: str
) -> AsyncIterator[Worker]:
    """A process that serves with these settings and variables, and a client with this token."""
    port = free_port()
    environment = {**variables(settings), "GEAR_API_PORT": str(port), **more}
    transport = httpx.AsyncHTTPTransport(verify=False)  # there are no certificates to read
    headers = {"Authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{port}"
    async with (
        command(folder, environment, "serve", program=program) as process,
        httpx.AsyncClient(base_url=address, headers=headers, timeout=60, transport=transport) as client,
    ):
        await process.until_it_serves(client)
        yield Worker(client, process)
