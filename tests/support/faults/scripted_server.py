"""A server that sends, request after request and connection after connection, what a test has written down."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

HANG: Final = "hang"
RESET: Final = "reset"
CLOSE: Final = "close"
Part = bytes | float | str
"""Bytes to send, seconds to wait, or how the connection goes on."""
Response = Sequence[Part]


@dataclass
class ScriptedServer:
    """Its address and the requests that have come: the number of their connection, head and body."""

    url: str = ""
    requests: list[tuple[int, str, bytes]] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    max_open: int = 0


@asynccontextmanager
async def scripted_server(
    *scripts: Sequence[Response], tls: ssl.SSLContext | None = None
) -> AsyncIterator[ScriptedServer]:
    """One script for each connection, the last for all further ones; of a script the last response is repeated."""
    server = ScriptedServer()
    tasks: list[asyncio.Task[None]]

    async def serve(wire: socket.socket) -> None:
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            transport, _ = await loop.connect_accepted_socket(lambda: protocol, wire, ssl=tls)
            number = server.connections
            script = scripts[min(number, len(scripts) - 1)]
            server.connections += 1
            server.open += 1
            server.max_open = max(server.max_open, server.open)
            try:
                writer = asyncio.StreamWriter(transport, protocol, reader, loop)
                await _converse(server, number, script, reader, writer)
            finally:
                server.open -= 1
                transport.abort()

    async def accept(listener: socket.socket) -> None:
        while True:
            wire, _ = await asyncio.get_running_loop().sock_accept(listener)
            tasks.append(asyncio.create_task(serve(wire)))

    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        listener.setblocking(False)
        server.url = f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
        tasks = [asyncio.create_task(accept(listener))]
        try:
            yield server
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _converse(
    server: ScriptedServer,
    number: int,
    script: Sequence[Response],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    count = 0
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        response = script[min(count, len(script) - 1)]
        count += 1
        length = head.lower().partition("content-length: ")[2].partition("\r\n")[0]
        body = b"" if response[0] == "unread" else await reader.readexactly(int(length or 0))
        server.requests.append((number, head, body))
        for part in response:
            if isinstance(part, bytes):
                writer.write(part)
                await writer.drain()
            elif isinstance(part, float):
                await asyncio.sleep(part)
            elif part == HANG:
                await reader.read()
            elif part in (RESET, CLOSE):
                if part == RESET:
                    wire: socket.socket = writer.get_extra_info("socket")
                    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    writer.transport.abort()
                writer.close()
                return
