"""A real HTTP server on loopback that fails as it is told, once a request."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Repository:
    """A file on a server, what goes wrong with the next requests, and how many there were.

    A failure is `break:N` (the connection ends after N bytes of what was promised) or an HTTP status.
    """

    body: bytes
    failures: list[str] = field(default_factory=list)
    requests: int = 0
    url: str = ""


@contextmanager
def serving(repository: Repository) -> Iterator[Repository]:
    """Serves the file under every path until the context ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            repository.requests += 1
            failure = repository.failures.pop(0) if repository.failures else ""
            if failure.isdigit():
                self.send_error(int(failure))
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(repository.body)))
            self.end_headers()
            kind, _, count = failure.partition(":")
            self.wfile.write(repository.body[: int(count)] if kind == "break" else repository.body)

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
