"""A TCP proxy before a server, whose wire a test can cut, close or hang."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from typing import Any, Self
from urllib.parse import urlsplit


class TcpProxy:
    """Forwards 127.0.0.1:`port` to a server until told otherwise. A context manager; runs in a thread of its own.

    `port` stays the same through all faults, so that a client which knows the proxy needs no new address.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"proxy of {host}:{port}", daemon=True)
        self._flowing = asyncio.Event()
        self._connections: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self.port = 0
        self.bytes_held = 0
        """Bytes that arrived since `hang` and are not forwarded."""
        self.delay = 0.0
        """Seconds that each part of the traffic is late, both ways."""

    @classmethod
    def before(cls, url: str) -> Self:
        """A proxy before the server of a URL such as http://127.0.0.1:9200."""
        parts = urlsplit(url)
        if parts.hostname is None or parts.port is None:
            msg = f"{url} names no host and port"
            raise ValueError(msg)
        return cls(parts.hostname, parts.port)

    @property
    def url(self) -> str:
        """The proxy's own address for HTTP clients."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self.restore()
        return self

    def __exit__(self, *_details: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut(self) -> None:
        """Reset every connection there is; new ones are forwarded as before."""
        self._run(self._cut())

    def refuse(self) -> None:
        """Reset every connection and refuse new ones, as a machine does on which nothing listens."""
        self._run(self._refuse())

    def hang(self) -> None:
        """Accept connections, keep those there are, and let no byte through, as a broken network does."""
        self._run(self._hang())

    def restore(self) -> None:
        """Forward again, what hangs included."""
        self._run(self._restore())

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _restore(self) -> None:
        self._flowing.set()
        await self._listen()

    async def _hang(self) -> None:
        self._flowing.clear()
        self.bytes_held = 0
        await self._listen()

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _refuse(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        await self._cut()

    async def _cut(self) -> None:
        for writer in list(self._connections):
            # With no time to linger, closing sends a reset instead of a polite end.
            wire = writer.get_extra_info("socket")
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        self._connections.clear()

    async def _close(self) -> None:
        """End every connection; what served them ends by itself then, as nothing is left to read."""
        self._flowing.set()
        await self._refuse()
        current = asyncio.current_task()
        while serving := [task for task in asyncio.all_tasks() if task is not current]:
            await asyncio.wait(serving, timeout=1)
            await self._cut()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client, from its first byte to its end."""
        self._connections.add(writer)
        await self._flowing.wait()
        try:
            server_reader, server_writer = await asyncio.open_connection(*self._target)
        except OSError:
            writer.transport.abort()
            self._connections.discard(writer)
            return
        self._connections.add(server_writer)
        await asyncio.gather(self._pump(reader, server_writer), self._pump(server_reader, writer))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Carry bytes one way until either side ends."""
        with contextlib.suppress(OSError):
            while data := await source.read(1 << 16):
                if not self._flowing.is_set():
                    self.bytes_held += len(data)
                await self._flowing.wait()
                await asyncio.sleep(self.delay)
                sink.write(data)
                await sink.drain()
        sink.close()
        self._connections.discard(sink)
