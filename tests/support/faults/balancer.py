"""A balancer that sends connections to the servers which say that they are ready, as load balancers do."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import httpx

from tests.support.api.waiting import serves

CHECK_SECONDS = 0.1


class Balancer:
    """Forwards connections to 127.0.0.1:`port` to servers of this machine."""

    def __init__(self, servers: Sequence[int]) -> None:
        self._turn = count()
        self._connections: set[asyncio.Task[None]] = set()
        self._ready = {port: asyncio.Event() for port in servers}
        self.port = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Checks and forwards until the block ends."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        checks = [asyncio.create_task(self._check(port)) for port in self._ready]
        try:
            yield
        finally:
            server.close()
            tasks = [*checks, *self._connections]
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def until_ready(self, port: int) -> None:
        """Waits until connections are sent to this server."""
        await self._ready[port].wait()

    async def _check(self, port: int) -> None:
        async with httpx.AsyncClient(timeout=5) as client:
            while True:
                ready = await serves(client, f"http://127.0.0.1:{port}", "/health/ready")
                (self._ready[port].set if ready else self._ready[port].clear)()
                await asyncio.sleep(CHECK_SECONDS)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with closing(writer):
            their_reader, their_writer = await self._connect()
            async with closing(their_writer):
                await asyncio.gather(_pump(reader, their_writer), _pump(their_reader, writer))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a ready server; waits while there is none, and tries another where one refuses."""
        while True:
            ready = [port for port, event in self._ready.items() if event.is_set()]
            if ready:
                with contextlib.suppress(OSError):
                    return await asyncio.open_connection("127.0.0.1", ready[next(self._turn) % len(ready)])
            await asyncio.sleep(CHECK_SECONDS)


@asynccontextmanager
async def closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Closes the connection at the end of the block, and waits until it is closed."""
    try:
        yield
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Carries bytes one way until either side ends."""
    with contextlib.suppress(OSError):
        while data := await source.read(1 << 16):
            sink.write(data)
            await sink.drain()
    sink.close()  # the other way ends too
