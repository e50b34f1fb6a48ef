"""HTTP/1.1 to one server over a bounded pool of keep-alive connections.

It does what requests to an engine need, and costs a quarter of a general client (docs/decisions/0064). Whatever fails
raises an OSError; time limits are the caller's, but for that of connecting.
"""

import asyncio
import ssl
import time
import zlib
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, cast

import aiohappyeyeballs
import httptools

from mappings.transport.names import HostName

CONNECT_SECONDS: Final = 0.75  # an engine is near
IDLE_SECONDS: Final = 15.0  # what is between may forget a connection that is idle for longer
FAMILY_SECONDS: Final = 0.25  # before another address of the same name is tried as well (RFC 8305)
_LENGTH_HEADERS: Final = ("content-length", "transfer-encoding")


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A complete response; headers have lower-case names, and repeated ones are joined by commas."""

    status: int
    headers: dict[str, str]
    body: bytes
    waited: float = 0.0  # seconds for a connection


class _Connection(asyncio.Protocol):
    """One connection, for one exchange after the other."""

    def __init__(self, on_lost: Callable[["_Connection"], None]) -> None:
        self._on_lost = on_lost
        self._transport: asyncio.Transport
        self._parser: httptools.HttpResponseParser
        self._response: asyncio.Future[HttpResponse] | None = None
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._is_head = self._ends_at_eof = self._keeps_alive = False
        self.idle_since = 0.0

    @property
    def is_reusable(self) -> bool:
        """Whether another request may be sent: the response before was complete, and nothing followed it."""
        return self._keeps_alive and not self._transport.is_closing() and not self._transport.get_write_buffer_size()

    async def exchange(self, request: bytes, *, is_head: bool) -> HttpResponse:
        """Sends the request; raises ConnectionError where no complete response comes."""
        self._response = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._headers, self._parts = {}, []
        self._is_head, self._ends_at_eof, self._keeps_alive = is_head, False, False
        self._transport.write(request)
        return await self._response

    def abort(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop; what nobody has requested ends the connection."""
        if self._response is None or self._response.done():
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(f"what answers does not speak HTTP: {error}")
            self.abort()

    def eof_received(self) -> None:
        """Called by the event loop, which closes the connection then."""
        if self._ends_at_eof:
            self._complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"the connection was lost: {exc}" if exc else "the connection was closed before the response's end")
        self._on_lost(self)

    def on_message_begin(self) -> None:
        """Called by the parser, again after an informational response."""
        if self._response is None or self._response.done():
            self.abort()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser, at the end of a chunked body as well."""
        key, text = name.decode("latin-1").lower(), value.decode("utf-8", "replace")
        self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        if self._is_head and self._parser.get_status_code() >= 200:
            self._complete()
        else:
            self._ends_at_eof = not any(name in self._headers for name in _LENGTH_HEADERS)

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)
        if self._is_head:  # it has none
            self.abort()

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() >= 200:
            self._complete()
        else:
            self._headers, self._ends_at_eof = {}, False

    def _complete(self) -> None:
        if self._response is None or self._response.done():
            return
        body = b"".join(self._parts)
        if self._headers.get("content-encoding") in ("gzip", "deflate"):
            try:
                body = zlib.decompress(body, zlib.MAX_WBITS | 32)
            except zlib.error as error:
                self._fail(f"the response cannot be decompressed: {error}")
                return
        self._keeps_alive = self._parser.should_keep_alive()
        headers, self._headers = self._headers, {}  # what follows does not belong to it
        self._response.set_result(HttpResponse(self._parser.get_status_code(), headers, body))

    def _fail(self, reason: str) -> None:
        if self._response is not None and not self._response.done():
            self._response.set_exception(ConnectionResetError(reason))


class HttpClient:
    """The connections to one server: at most `limit`, each for one exchange at a time."""

    def __init__(
        self, host: str, port: int, tls: ssl.SSLContext | None, limit: int, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._host = host
        self._name = HostName(host, port)
        self._tls = tls
        self._idle_seconds = idle_seconds
        self._slots = asyncio.Semaphore(limit)
        self._open: set[_Connection] = set()
        self._idle: deque[_Connection] = deque()  # the one used last is the last

    async def exchange(self, request: bytes, *, is_head: bool = False) -> HttpResponse:
        """The response to a request as it is sent; raises OSError.

        A connection whose exchange fails or is cancelled is closed: what it has still to say is nobody's.
        """
        began = time.monotonic()
        async with self._slots:
            connection = self._take() or await self._connect()
            waited = time.monotonic() - began
            try:
                response = await connection.exchange(request, is_head=is_head)
            except BaseException:
                connection.abort()
                raise
            self._give_back(connection)
            return replace(response, waited=waited)

    async def close(self) -> None:
        """Closes all connections; exchanges under way fail."""
        self._idle.clear()
        for connection in self._open:
            connection.abort()
        await asyncio.sleep(0)  # then the event loop has ended them

    def _take(self) -> _Connection | None:
        oldest = time.monotonic() - self._idle_seconds
        while self._idle and self._idle[0].idle_since < oldest:
            self._idle.popleft().abort()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable:
                return connection
        return None

    def _give_back(self, connection: _Connection) -> None:
        if connection.is_reusable:
            connection.idle_since = time.monotonic()
            self._idle.append(connection)
        else:
            connection.abort()

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                addresses = await self._name.addresses(stale=True)
                socket = await aiohappyeyeballs.start_connection(addresses, happy_eyeballs_delay=FAMILY_SECONDS)
                name = None if self._tls is None else self._host
                is_taken = False
                try:
                    transport, connection = await loop.create_connection(
                        lambda: _Connection(self._open.discard), sock=socket, ssl=self._tls, server_hostname=name
                    )
                    is_taken = not transport.is_closing()
                finally:
                    if not is_taken and not isinstance(loop, asyncio.BaseEventLoop):
                        # uvloop: a transport that ends early has closed the descriptor but left the object, which
                        # would close whatever has the descriptor's number by then.
                        socket.detach()
        except TimeoutError as error:  # the kernel's own, too
            raise ConnectionRefusedError(f"no connection within {CONNECT_SECONDS} s") from error
        except RuntimeError as error:  # uvloop's, of a transport that ended within its handshake
            raise ConnectionResetError(str(error)) from error
        if not is_taken:  # it may be over before anybody is told
            raise ConnectionResetError("the connection was closed as soon as it was made")
        self._open.add(connection)
        return connection
