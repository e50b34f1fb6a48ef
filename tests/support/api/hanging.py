"""Background work that does not end by itself."""

import asyncio


class Hanging:
    """Work, of periodic workers for one, that waits until it is cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Queue[None]()
        self.cancelled_at: list[float] = []  # by the clock of the event loop

    async def __call__(self, *_: object) -> float:
        """One run of a worker, or a call to the store."""
        self.started.put_nowait(None)
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled_at.append(asyncio.get_running_loop().time())
        return 0.0

    async def release(self) -> None:
        """The same, of a call without a result."""
        await self()


async def ignore_cancellation(released: asyncio.Event) -> None:
    """Ends when it is released, and not when it is cancelled."""
    while not released.is_set():
        try:
            await released.wait()
        except asyncio.CancelledError:
            continue
