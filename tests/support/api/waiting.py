"""Waits until a condition holds."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Returns once the condition holds; raises TimeoutError where it does not within this time."""
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.05)


async def serves(client: httpx.AsyncClient, address: str = "", path: str = "/health/live") -> bool:
    """Whether the server at an address, or at the client's, answers 200."""
    try:
        return (await client.get(f"{address}{path}")).status_code == 200
    except httpx.TransportError:
        return False
