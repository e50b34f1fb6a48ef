"""Nodes of an engine as the client sees them: HTTP servers that answer at once, late or never, and one that is lost."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

RESPONSE = b'{"took": 1}'


class SmallNode:
    """Answers every request after `delay` seconds unless it hangs; notes the paths of all."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.requests: list[str] = []
        self.heads: list[str] = []
        self.url = ""
        self._answering = asyncio.Event()
        self.restore()

    def hang(self) -> None:
        """Takes requests and answers none."""
        self._answering.clear()

    def restore(self) -> None:
        """Answers again, what waits included."""
        self._answering.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                if "content-length: " in head:
                    await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
                method, path, _ = head.split(" ", 2)
                self.requests.append(path)
                self.heads.append(head)
                await self._answering.wait()
                await asyncio.sleep(self.delay)
                content = b"" if method == "head" else RESPONSE
                lines = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
                writer.write(lines % len(content) + content)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def small_node() -> AsyncIterator[SmallNode]:
    """A node on a port of its own."""
    node = SmallNode()
    server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
    node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield node
    finally:
        node.restore()
        server.close()


@contextmanager
def lost_node() -> Iterator[str]:
    """The address of a node that drops what is sent to it: nobody accepts, and its queue is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        try:
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(address)
            yield f"http://127.0.0.1:{address[1]}"
        finally:
            for each in waiting:
                each.close()
