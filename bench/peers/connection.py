"""Requests of the bench: an address and a body in, the answer out, and what it took where that is measured."""

import http.client
import json
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

ANSWER_SECONDS = 60.0


class Connection:
    """One kept-alive connection to a service or the engine, for one thread."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self._address = address
        self._headers = dict(headers)
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=ANSWER_SECONDS)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def ask(self, method: str, path: str, content: bytes) -> tuple[bytes, float]:
        """An answer, and the seconds from its request to its last byte; raises OSError for any but 200."""
        began = time.perf_counter()
        self._connection.request(method, path, content, self._headers)
        answer = self._connection.getresponse()
        told = answer.read()
        took = time.perf_counter() - began
        if answer.status != http.client.OK:
            message = f"{method} {self._address}{path}: {answer.status} {told[:300]!r}"
            raise OSError(message)
        return told, took


def ask(method: str, address: str, body: Any = None, headers: Mapping[str, str] = MappingProxyType({})) -> Any:
    """One request on a connection of its own, and its answer's JSON; raises HTTPError for what is none."""
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, content, dict(headers), method=method), timeout=ANSWER_SECONDS) as answer:
        return json.load(answer)
