"""The server's HTTP protocol with the error envelope for malformed requests, and limits for a request's head."""

import asyncio
import secrets

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from api.errors import ApiError
from api.http.error_handlers import response_of

# The request line and all headers; proxies allow 8 to 32 KiB. The server notices it after the read that exceeds it.
MAX_HEAD_BYTES = 65_536


class GearProtocol(HttpToolsProtocol):
    """uvicorn's protocol; `head_seconds` limits the time until a request's head is complete."""

    head_seconds = 20.0

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        """Starts the timer of the first request's head."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses the bytes, and counts those of a head."""
        super().data_received(data)
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response(f"the request line and headers are larger than {MAX_HEAD_BYTES:,} bytes")

    def on_message_begin(self) -> None:
        """Starts the timer of a further request's head."""
        super().on_message_begin()
        self._start_timer()

    def on_headers_complete(self) -> None:
        """Stops the timer."""
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Sends the error envelope and closes the connection."""
        self._stop_timer()
        error = ApiError("bad_request", msg, headers={"Connection": "close"})
        response = response_of(error, secrets.token_hex(16))
        head = [b"HTTP/1.1 400 Bad Request", *(b"%s: %s" % pair for pair in response.raw_headers), b"", b""]
        self.transport.write(b"\r\n".join(head) + bytes(response.body))
        self.transport.close()

    def _start_timer(self) -> None:
        if self._head_timer is None:
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(self.head_seconds, self._head_timed_out)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_timed_out(self) -> None:
        if not self.transport.is_closing():
            self.send_400_response(
                f"the request line and headers did not arrive within {self.head_seconds:.0f} seconds"
            )
