"""The API's client of the engine, before a scripted server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import orjson
from opensearchpy import AsyncOpenSearch

from mappings.connection import SearchSettings, connect_async
from tests.support.faults.scripted_server import Response, ScriptedServer

TIMEOUT = 1.0
Run = Callable[[Coroutine[Any, Any, None]], None]


def response(number: int, head: str = "") -> bytes:
    """A complete response that tells its number."""
    content = b'{"number":%d}' % number
    lines = f"HTTP/1.1 200 OK\r\n{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return lines.encode() + content


NEXT: Response = [response(2)]


@asynccontextmanager
async def client_of(server: ScriptedServer, **options: Any) -> AsyncIterator[AsyncOpenSearch]:
    """A client that tries nothing again."""
    settings = SearchSettings(_env_file=None, opensearch_url=server.url, **options.pop("settings", {}))
    client = connect_async(settings, **{"timeout": TIMEOUT, "retries": 0, "connections": 1, **options})
    try:
        yield client
    finally:
        await client.close()


async def number_of(client: AsyncOpenSearch) -> int:
    """The number in the response to a search."""
    number: int = orjson.loads(await client.search(index="x", body={}))["number"]
    return number


async def settle() -> None:
    """Lets what was sent arrive."""
    await asyncio.sleep(0.05)
