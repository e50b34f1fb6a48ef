"""HTTP requests of the benchmarks to services and to the engine."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import orjson
import urllib3
from urllib3.connectionpool import connection_from_url
from urllib3.exceptions import HTTPError

TIMEOUT_SECONDS = 60.0
JSON_HEADERS: Mapping[str, str] = MappingProxyType({"Content-Type": "application/json"})
_POOL = urllib3.PoolManager(timeout=TIMEOUT_SECONDS, retries=False)


class StatusError(OSError):
    """A response whose status is not 2xx."""

    def __init__(self, method: str, url: str, status: int, content: bytes) -> None:
        super().__init__(f"{method} {url}: {status} {content[:300]!r}")
        self.status = status


class Connection:
    """One kept-alive connection to a service or the engine, for one thread."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self._address = address
        self._pool = connection_from_url(address, maxsize=1, headers=headers, timeout=TIMEOUT_SECONDS, retries=False)

    def close(self) -> None:
        """Closes the connection."""
        self._pool.close()

    def request(self, method: str, path: str, body: bytes | None = None) -> tuple[bytes, float]:
        """The response body, and the seconds from the request to its last byte; raises StatusError."""
        started = time.perf_counter()
        response = self._pool.request(method, path, body=body)
        seconds = time.perf_counter() - started
        if not 200 <= response.status < 300:
            raise StatusError(method, f"{self._address}{path}", response.status, response.data)
        return response.data, seconds


def request_bytes(method: str, url: str, content: bytes | None, headers: Mapping[str, str]) -> bytes:
    """The response body of one request; raises OSError, a StatusError where there was a response."""
    try:
        response = _POOL.request(method, url, body=content, headers=headers)
    except HTTPError as error:
        message = f"{method} {url}: {error}"
        raise OSError(message) from error
    if not 200 <= response.status < 300:
        raise StatusError(method, url, response.status, response.data)
    return response.data


def request_json(method: str, url: str, body: Any = None, headers: Mapping[str, str] = JSON_HEADERS) -> Any:
    """The decoded response of one request, whose body is sent as JSON, bytes as they are; raises OSError."""
    content = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
    return orjson.loads(request_bytes(method, url, content, {**JSON_HEADERS, **headers}))
