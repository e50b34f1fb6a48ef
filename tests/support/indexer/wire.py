"""A proxy before the engine, which cuts or loses requests or answers them wrong."""

import http.client
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Fault:
    """What becomes of a request: `cut` before the engine sees it, `lose` its answer, or `answer` in its place."""

    kind: str
    status: int = 0
    body: bytes = b""


CUT = Fault("cut")
LOSE = Fault("lose")

Rule = Callable[[str, str, bytes], Fault | None]  # method, path, body


def pass_all(method: str, path: str, body: bytes) -> Fault | None:
    """The rule of a healthy wire."""
    return None


def is_bulk(path: str) -> bool:
    """Whether a request carries items."""
    return path.partition("?")[0].endswith("/_bulk")


class Wire:
    """Forwards every request to the engine, but for what `rule` says."""

    def __init__(self, engine: str) -> None:
        parts = urlsplit(engine)
        self._engine = (parts.hostname or "", parts.port or 9200)
        self.rule: Rule = pass_all
        self.bulks = 0
        wire = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else a body waits 40 ms for the acknowledgement of its head

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                wire.bulks += is_bulk(self.path)
                fault = wire.rule(self.command, self.path, body)
                if fault is not None and fault.kind == "response":
                    self._response(fault.status, "application/json", fault.body)
                    return
                if fault is None or fault.kind == "lose":
                    status, kind, response = wire.forward(
                        self.command, self.path, body, self.headers.get("content-type")
                    )
                    if fault is None:
                        self._response(status, kind, response)
                        return
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

            def _response(self, status: int, kind: str, response: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(response)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(response)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _serve  # noqa: N815  # names that http.server asks for

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Wire":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def forward(self, method: str, path: str, body: bytes, kind: str | None) -> tuple[int, str, bytes]:
        """The engine's own answer."""
        connection = http.client.HTTPConnection(*self._engine, timeout=60)
        try:
            connection.request(method, path, body, {"content-type": kind} if kind else {})
            response = connection.getresponse()
            return response.status, response.headers.get("content-type", "application/json"), response.read()
        finally:
            connection.close()
