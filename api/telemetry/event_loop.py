"""Measures how late the event loop runs what is due: the time for which one task has kept all others waiting."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

INTERVAL_SECONDS: Final = 0.25


@asynccontextmanager
async def measured_lag(observe: Callable[[float], None]) -> AsyncIterator[None]:
    """Measures the lag while the block lasts."""
    task = asyncio.create_task(_measure(observe))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _measure(observe: Callable[[float], None]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + INTERVAL_SECONDS
        await asyncio.sleep(INTERVAL_SECONDS)
        observe(max(0.0, loop.time() - due))
