"""The server's HTTP protocol: the error envelope for malformed requests, and limits of connections and heads."""

import asyncio
import re
from http import HTTPStatus
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.errors import ERRORS, ApiError
from api.http.connections import ConnectionLimit
from api.http.error_handlers import response_of
from api.http.request_id import new_request_id, request_id

# The request line and all headers; proxies allow 8 to 32 KiB. The server notices it after the read that exceeds it.
MAX_HEAD_BYTES = 65_536
MAX_TARGET_BYTES = 8_192
# After a deadline the socket is read once more: a busy server may not have read yet what arrived in time.
LAST_READ_SECONDS = 0.05
_HOST = re.compile(rb"[A-Za-z0-9._~%!$&'()*+,;=:\[\]-]*")


class GearProtocol(HttpToolsProtocol):
    """uvicorn's protocol; `head_seconds` limits the time until a request's head is complete."""

    head_seconds = 20.0
    refusal_seconds = 1.0  # for the first bytes on a connection that is one too many

    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _is_excess = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        """Starts the timer of the first request's head."""
        super().connection_made(transport)
        limit: ConnectionLimit = self.app_state["connections"]
        self._is_excess = limit.is_exceeded(len(self.connections))
        if self._is_excess and limit.is_far_exceeded(len(self.connections)):
            transport.abort()
        else:
            self._start_timer(self.refusal_seconds if self._is_excess else self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parses the bytes, and counts those of a head."""
        if self._is_excess:  # refused only now: a client reads no response before it has sent its request
            self._close_with(ApiError("overloaded", "too many connections are open"), new_request_id())
            return
        super().data_received(data)
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                if len(self.url) > MAX_TARGET_BYTES:
                    self._close_with(ApiError("uri_too_long"), new_request_id())
                else:
                    self.send_400_response(f"the request line and headers are larger than {MAX_HEAD_BYTES:,} bytes")

    def on_message_begin(self) -> None:
        """Starts the timer of a further request's head."""
        super().on_message_begin()
        self._start_timer(self.head_seconds)

    def on_headers_complete(self) -> None:
        """Stops the timer."""
        self._stop_timer()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Sends the error envelope and closes the connection."""
        self._close_with(ApiError("bad_request", msg), new_request_id())

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        scope = cast("Scope", cycle.scope)
        error = _refusal_of(scope)
        if error is None:
            super()._start_asgi_task(cycle, app)
        else:
            cycle.response_complete = True  # its body is not read
            self._close_with(error, request_id(scope))

    def _close_with(self, error: ApiError, identity: str) -> None:
        self._stop_timer()
        response = response_of(error, identity)
        status = ERRORS[error.code][0]
        head = [
            b"HTTP/1.1 %d %b" % (status, HTTPStatus(status).phrase.encode()),
            *(b"%s: %s" % pair for pair in response.raw_headers),
            b"connection: close\r\n\r\n",
        ]
        self.transport.write(b"\r\n".join(head) + bytes(response.body))
        self.transport.close()

    def _unsupported_upgrade_warning(self) -> None:
        """Logs nothing: the request is answered as if it asked for no upgrade, and anybody may send one."""

    def _start_timer(self, seconds: float) -> None:
        if self._head_timer is None:
            self._head_bytes = 0
            self._head_timer = self.loop.call_later(seconds, self._last_read)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _last_read(self) -> None:
        self._head_timer = self.loop.call_later(LAST_READ_SECONDS, self._head_timed_out)

    def _head_timed_out(self) -> None:
        if self.transport.is_closing():
            return
        if not self._head_bytes:  # idle: a proxy would take an error for the response to its next request
            self._stop_timer()
            self.transport.close()
            return
        self.send_400_response(f"the request line and headers did not arrive within {self.head_seconds:.0f} seconds")


def _refusal_of(scope: Scope) -> ApiError | None:
    """Why a request is refused for its head (RFC 9112, 3.2)."""
    query = scope["query_string"]
    if len(scope["raw_path"]) + len(query) + bool(query) > MAX_TARGET_BYTES:  # with the `?`
        return ApiError("uri_too_long")
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) > 1 or (not hosts and scope["http_version"] != "1.0"):
        return ApiError("bad_request", f"send one Host header, not {len(hosts)}")
    if hosts and not _HOST.fullmatch(hosts[0]):
        return ApiError("bad_request", "the Host header names no host")
    return None
