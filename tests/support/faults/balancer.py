"""A balancer that sends connections to the servers which say that they are ready, as load balancers do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import httpx

CHECK_SECONDS = 0.1


class Balancer:
    """Forwards connections to 127.0.0.1:`port` to servers of this machine."""

    def __init__(self, servers: Sequence[int]) -> None:
        self._turn = count()
        self._pumps: set[asyncio.Task[None]] = set()
        self._ready = {port: asyncio.Event() for port in servers}
        self.port = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Checks and forwards until the block ends."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        checks = [asyncio.create_task(self._check(port)) for port in self._ready]
        try:
            yield
        finally:
            server.close()
            for task in (*checks, *self._pumps):
                task.cancel()
            await asyncio.wait([*checks, *self._pumps])

    async def until_ready(self, port: int) -> None:
        """Waits until connections are sent to this server."""
        await self._ready[port].wait()

    async def _check(self, port: int) -> None:
        async with httpx.AsyncClient(timeout=5) as client:
            while True:
                try:
                    answer = await client.get(f"http://127.0.0.1:{port}/health/ready")
                    ready = answer.status_code == 200
                except httpx.TransportError:
                    ready = False
                (self._ready[port].set if ready else self._ready[port].clear)()
                await asyncio.sleep(CHECK_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = None
        while theirs is None:  # what comes while no server is ready waits, and a refused connection is tried elsewhere
            ready = [port for port, event in self._ready.items() if event.is_set()]
            if ready:
                with contextlib.suppress(OSError):
                    theirs = await asyncio.open_connection("127.0.0.1", ready[next(self._turn) % len(ready)])
            if theirs is None:
                await asyncio.sleep(CHECK_SECONDS)
        for source, sink in ((reader, theirs[1]), (theirs[0], writer)):
            pump = asyncio.create_task(_pump(source, sink))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Carries bytes one way until either side ends."""
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    sink.close()
