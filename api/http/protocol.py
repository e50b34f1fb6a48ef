"""The HTTP protocol: bytes of a connection in; requests, or the envelope for what is no request of HTTP, out."""

import asyncio
import secrets

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.errors import ApiError
from api.http.error_handlers import response_of

# A request line with all headers. Proxies allow 8 to 32 KiB; what is read at once comes on top.
MOST_HEAD_BYTES = 65_536
HEAD_SECONDS = 20.0


class GearProtocol(HttpToolsProtocol):
    """The server's own protocol with its refusals in the envelope, and with bounds for a request's head."""

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        """A client has connected; its first request must come in time."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes have come: parsed, and counted while they belong to a head."""
        super().data_received(data)
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"the request line and headers are larger than {MOST_HEAD_BYTES:,} bytes")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """A request's head is complete."""
        self._head_arrived()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuses what cannot be read as a request, and closes the connection."""
        self._head_arrived()
        error = ApiError("bad_request", msg, headers={"Connection": "close"})
        response = response_of(error, secrets.token_hex(16))
        head = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % pair for pair in response.raw_headers), b"", b""]
        self.transport.write(b"\r\n".join(head) + bytes(response.body))
        self.transport.close()

    def _await_head(self) -> None:
        if self._head_timer is None:
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_is_late)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            self.send_400_response(f"no whole request line and headers came within {HEAD_SECONDS:.0f} seconds")
