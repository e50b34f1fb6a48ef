"""A receiver of callbacks for tests: a real server that behaves as it is told and records what it got."""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

import orjson

from tests.support.api.waiting import until


@dataclass(frozen=True)
class Received:
    """One request as it came; names of headers in lower case, `at` by the monotonic clock."""

    target: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def event(self) -> str:
        """The body's `type`."""
        return str(orjson.loads(self.body)["type"])


Behaviour = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


def responses(status: int, *headers: str, body: bytes = b"") -> Behaviour:
    """Answers at once."""

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(body)}", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + body)

    return behave


def says(raw: bytes) -> Behaviour:
    """Answers with these bytes and closes."""

    async def behave(_: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return behave


async def hangs(_: Received, writer: asyncio.StreamWriter) -> None:
    """Never answers."""
    await asyncio.Event().wait()


async def drips(_: Received, writer: asyncio.StreamWriter) -> None:
    """Sends the head of an answer byte by byte, without end."""
    writer.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def drips_its_body(_: Received, writer: asyncio.StreamWriter) -> None:
    """Says 200 and sends a body that never ends, byte by byte."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def floods(_: Received, writer: asyncio.StreamWriter) -> None:
    """Says 200 and sends a body without end as fast as it can."""
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
        await writer.drain()


async def floods_its_head(_: Received, writer: asyncio.StreamWriter) -> None:
    """Sends headers without end as fast as it can."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-Flood: " + b"x" * 1000 + b"\r\n")
        await writer.drain()


async def resets(_: Received, writer: asyncio.StreamWriter) -> None:
    """Resets the connection."""
    wire = writer.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Receiver:
    """Listens on a free port of this machine while its block lasts, in a thread of its own."""

    def __init__(self, behaviour: Behaviour | None = None, certificates: ssl.SSLContext | None = None) -> None:
        self.behaviour = behaviour or responses(200)
        self.received: list[Received] = []
        self.server_names: list[str | None] = []
        self.connections = 0
        self.max_at_once = 0
        self.port = 0
        self._at_once = 0
        self._certificates = certificates
        if certificates is not None:
            certificates.sni_callback = lambda _wire, name, _context: self.server_names.append(name)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._listen())
        return self

    def __exit__(self, *_details: object) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """Where callbacks go."""
        return f"http://127.0.0.1:{self.port}/hook?key=secret-of-the-query"

    @property
    def events(self) -> list[str]:
        """The types of what was received, in order."""
        return [each.event for each in self.received]

    @property
    def ids(self) -> list[str]:
        """The webhook ids of what was received, in order."""
        return [each.headers["webhook-id"] for each in self.received]

    async def until_received(self, *events: str) -> None:
        """Waits until exactly these events came, also from a process that starts on a busy machine."""
        await until(lambda: len(self.events) >= len(events), 60)
        assert self.events == list(events)

    def close_port(self) -> None:
        """Nobody listens any more; the port stays the same."""
        self._run(self._close())

    def open_port(self) -> None:
        """Listens again."""
        self._run(self._listen())

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._certificates)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        current = asyncio.current_task()
        async with asyncio.timeout(5):
            while running := [task for task in asyncio.all_tasks() if task is not current]:
                for task in self._tasks:  # what was just accepted is none of them yet
                    task.cancel()
                await asyncio.wait(running, timeout=0.1)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self._at_once += 1
        self.max_at_once = max(self.max_at_once, self._at_once)
        try:
            request = await _read(reader)
            self.received.append(request)
            behaving = asyncio.ensure_future(self.behaviour(request, writer))
            left = asyncio.ensure_future(reader.read())  # ends when the other side closes
            try:
                await asyncio.wait({behaving, left}, return_when=asyncio.FIRST_COMPLETED)
                if behaving.done():
                    behaving.result()
                    await writer.drain()
            finally:
                for ending in (behaving, left):
                    ending.cancel()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the other side went away
        except asyncio.CancelledError:
            writer.transport.abort()  # the receiver closes
        finally:
            self._at_once -= 1
            self._tasks.discard(task)
            writer.transport.abort() if self.behaviour is resets else writer.close()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(head[0].split(" ")[1], headers, body, monotonic())
