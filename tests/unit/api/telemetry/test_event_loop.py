"""The lag of the event loop is measured while it lasts."""

import asyncio
import time

from api.telemetry.metrics import measured_lag

BLOCKED_SECONDS = 0.4


async def test_what_blocks_the_loop_is_measured() -> None:
    lag: asyncio.Queue[float] = asyncio.Queue()
    async with measured_lag(lag.put_nowait):
        await asyncio.sleep(0)
        time.sleep(BLOCKED_SECONDS)  # noqa: ASYNC251  # it is what is measured
        assert await lag.get() > 0.1
    assert lag.empty()
