"""Serves one file on loopback, with every fault that a test asks for."""

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass
class FileServer:
    """What it serves and how; every field may be changed while it runs."""

    body: bytes
    tag: str | None = '"one"'
    modified: str | None = None
    ranges: bool = True
    length: bool = True
    chunked: bool = False
    cuts: list[int] = field(default_factory=list)  # how many bytes the next answers send before they are cut
    statuses: list[int] = field(default_factory=list)  # what the next answers are instead
    location: str | None = None
    login: str | None = None  # the Authorization header that is asked for
    requested: list[dict[str, str]] = field(default_factory=list)

    def __enter__(self) -> "FileServer":
        place = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its head

            def do_GET(self) -> None:
                place.requested.append({name.lower(): value for name, value in self.headers.items()})
                place.response(self)

            def handle(self) -> None:
                with suppress(ConnectionError):  # a reader may leave when it has seen enough
                    super().handle()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def url(self, name: str = "items.ndjson") -> str:
        """The address of its file."""
        return f"http://127.0.0.1:{self.port}/{name}"

    def response(self, request: BaseHTTPRequestHandler) -> None:
        """One answer, with the next fault of the lists."""
        status = self.statuses.pop(0) if self.statuses else 200
        if self.login is not None and request.headers.get("authorization") != self.login:
            status = 401
        if status != 200:
            request.send_response(status)
            if self.location is not None and status in (301, 302, 307):
                request.send_header("location", self.location)
            request.send_header("content-length", "0")
            request.end_headers()
            return
        self._send(request, self._begin(request))

    def _begin(self, request: BaseHTTPRequestHandler) -> int:
        requested = request.headers.get("range")
        valid = request.headers.get("if-range") in (None, self.tag, self.modified)
        if requested is None or not self.ranges or not valid:
            request.send_response(200)
            return 0
        first = int(requested.removeprefix("bytes=").rstrip("-"))
        request.send_response(206)
        request.send_header("content-range", f"bytes {first}-{len(self.body) - 1}/{len(self.body)}")
        return first

    def _send(self, request: BaseHTTPRequestHandler, first: int) -> None:
        for name, value in (("etag", self.tag), ("last-modified", self.modified)):
            if value is not None:
                request.send_header(name, value)
        rest = self.body[first:]
        if self.chunked:
            request.send_header("transfer-encoding", "chunked")
            rest = b"%x\r\n%b\r\n0\r\n\r\n" % (len(rest), rest)
        elif self.length:
            request.send_header("content-length", str(len(rest)))
        else:
            request.close_connection = True
        request.end_headers()
        if not self.cuts:
            request.wfile.write(rest)
            return
        request.wfile.write(rest[: self.cuts.pop(0)])
        request.wfile.flush()
        request.close_connection = True
        request.connection.shutdown(socket.SHUT_RDWR)
