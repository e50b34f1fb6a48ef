"""How often the event loop comes round."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def turns() -> AsyncIterator[Callable[[], int]]:
    """How often the event loop has come round within the block, so that others got their turn."""
    count = 0

    async def others() -> None:
        nonlocal count
        while True:
            await asyncio.sleep(0)
            count += 1

    task = asyncio.create_task(others())
    try:
        await asyncio.sleep(0)
        yield lambda: count
    finally:
        task.cancel()
