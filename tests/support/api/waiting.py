"""A condition goes in; the wait ends once it holds."""

import asyncio
from collections.abc import Awaitable, Callable


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Returns once the condition holds; raises TimeoutError where it does not within this time."""
    async with asyncio.timeout(seconds):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.05)
