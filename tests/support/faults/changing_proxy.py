"""An HTTP proxy before a service, which changes answers on their way."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

HOP_BY_HOP = ("transfer-encoding", "connection", "content-length", "content-encoding")


@dataclass
class Exchange:
    """A request and its answer, which may be changed."""

    method: str
    path: str
    sent: bytes
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The answer's body."""
        return json.loads(self.body)

    @json.setter
    def json(self, value: Any) -> None:
        self.body = json.dumps(value).encode()


Change = Callable[[Exchange], None]


class ChangingProxy:
    """Forwards to a service; `change` is applied to each answer."""

    def __init__(self, url: str) -> None:
        self.change: Change = lambda _: None
        self.url = ""
        self._client = httpx.Client(base_url=url, timeout=60)

    def close(self) -> None:
        """Closes the connections to the service."""
        self._client.close()

    def forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Exchange:
        """The answer as the client gets it."""
        response = self._client.request(method, path, headers=headers, content=body)
        lower = {name.lower(): value for name, value in response.headers.items()}
        headers = {name: value for name, value in lower.items() if name not in HOP_BY_HOP}
        exchange = Exchange(method, path, body, response.status_code, headers, response.content)
        self.change(exchange)
        return exchange


@contextmanager
def changing(url: str) -> Iterator[ChangingProxy]:
    """A proxy before the service at this address."""
    proxy = ChangingProxy(url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            exchange = proxy.forward(self.command, self.path, headers, body)
            self.send_response_only(exchange.status)
            for name, value in exchange.headers.items():
                self.send_header(name, value)
            if exchange.status != 304:
                self.send_header("Content-Length", str(len(exchange.body)))
            self.end_headers()
            self.wfile.write(exchange.body)

        do_GET = do_POST = do_DELETE = _serve  # noqa: N815  # the library's names

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        proxy.close()
