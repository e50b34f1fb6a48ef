"""Bytes and a list of misdeeds go in; a real HTTP server on loopback that commits them, one a request, comes out."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Repository:
    """A file on a server: what it has, what goes wrong with the next requests, what was asked so far.

    A misdeed is `break:N` (N bytes of what was promised, then the end of the connection), `whole` (no ranges),
    `shifted` (another range than asked for), or an HTTP status.
    """

    body: bytes
    misdeeds: list[str] = field(default_factory=list)
    ranges: list[str | None] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(repository: Repository) -> Iterator[Repository]:
    """Serve the file under every path until the context ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            repository.ranges.append(asked)
            misdeed = repository.misdeeds.pop(0) if repository.misdeeds else ""
            if misdeed.isdigit():
                self.send_error(int(misdeed))
                return
            first = int(re.findall(r"\d+", asked)[0]) if asked and misdeed != "whole" else 0
            first += 1 if misdeed == "shifted" else 0
            if first >= len(repository.body):
                self.send_error(416)
                return
            body = repository.body[first:]
            self.send_response(206 if first else 200)
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(repository.body) - 1}/{len(repository.body)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            kind, _, count = misdeed.partition(":")
            self.wfile.write(body[: int(count)] if kind == "break" else body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is the base class's
            """Nothing to stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    repository.url = f"http://127.0.0.1:{server.server_address[1]}/file"
    try:
        yield repository
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
