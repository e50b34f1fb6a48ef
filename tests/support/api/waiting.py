"""Waits until a condition holds."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, sleep
from typing import Final

import httpx

POLL_SECONDS: Final = 0.05


async def until(condition: Callable[[], Awaitable[bool] | bool], seconds: float = 30, otherwise: str = "") -> None:
    """Returns once the condition holds; raises TimeoutError with `otherwise` where it does not within this time."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                holds = condition()
                if holds if isinstance(holds, bool) else await holds:
                    return
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError as error:
        raise TimeoutError(otherwise or f"the condition does not hold after {seconds} seconds") from error


def wait_until(condition: Callable[[], bool], seconds: float = 60, otherwise: str = "") -> float:
    """Waits as `until` does, without an event loop; the seconds that it took."""
    started = monotonic()
    while not condition():
        if monotonic() - started > seconds:
            raise TimeoutError(otherwise or f"the condition does not hold after {seconds} seconds")
        sleep(POLL_SECONDS)
    return monotonic() - started


async def serves(client: httpx.AsyncClient, address: str = "", path: str = "/health/live") -> bool:
    """Whether the server at an address, or at the client's, answers 200."""
    try:
        return (await client.get(f"{address}{path}")).status_code == 200
    except httpx.TransportError:
        return False
