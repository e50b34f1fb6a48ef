"""A server that answers every request with given bytes, and then hangs or cuts the wire."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any


def http(status: int, body: bytes, kind: str = "application/json", length: int | None = None) -> bytes:
    """An HTTP answer; `length` declares more bytes than come."""
    head = f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


def response(status: int, body: Any) -> bytes:
    """An HTTP answer in JSON."""
    return http(status, json.dumps(body).encode())


@asynccontextmanager
async def answering(content: bytes, *, cut: bool = False, first: Iterable[bytes] = ()) -> AsyncIterator[str]:
    """The address of the server, while the block lasts; `cut` resets each connection after the answer.

    `first` are the answers to the first searches.
    """
    to_searches = iter(first)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        await reader.readexactly(int(line.partition(b":")[2]))
                is_search = b"search" in head.partition(b"\r\n")[0]
                writer.write(next(to_searches, content) if is_search else content)
                await writer.drain()
                if cut:
                    wire = writer.get_extra_info("socket")
                    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                    return
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
