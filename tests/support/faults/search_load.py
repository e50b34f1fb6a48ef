"""Clients that search without a pause, and what each search was answered."""

import itertools
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

CLIENTS = 4
TIMEOUT_SECONDS = 30.0
Found = tuple[int | None, list[int]]  # the total and the page's ids


@dataclass(frozen=True)
class Answer:
    """An answer to a body: when it was requested (monotonic seconds), its status (0: none), and what it found."""

    body: Mapping[str, Any]
    requested: float
    status: int
    found: Found | None = None


class SearchLoad:
    """Clients of a service that send each body once."""

    def __init__(self, address: str, headers: Mapping[str, str], bodies: Iterable[Mapping[str, Any]]) -> None:
        self._address = address
        self._headers = headers
        self._bodies = iter(bodies)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.answers: list[Answer] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Searches for as long as the context."""
        threads = [threading.Thread(target=self._search) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            for thread in threads:
                thread.join()

    def _search(self) -> None:
        with client_of(self._address, self._headers) as client:
            while not self._stopped.is_set():
                with self._lock:
                    bodies = list(itertools.islice(self._bodies, 1))
                for body in bodies:
                    requested = time.monotonic()
                    try:
                        status, found = search(client, body)
                    except httpx.TransportError:
                        status, found = 0, None
                    self.answers.append(Answer(body, requested, status, found))


def client_of(address: str, headers: Mapping[str, str]) -> httpx.Client:
    """A client with a connection of its own."""
    return httpx.Client(base_url=address, headers=dict(headers), timeout=TIMEOUT_SECONDS)


def search(client: httpx.Client, body: Mapping[str, Any]) -> tuple[int, Found | None]:
    """The status of a search and, where it succeeded, what it found."""
    response = client.post("/v1/gear/search", json=body)
    if response.status_code != httpx.codes.OK:
        return response.status_code, None
    content = response.json()
    return response.status_code, (content["total"], [item["id"] for item in content["gear"]])


def wrong_answers(answers: Iterable[Answer], address: str, headers: Mapping[str, str]) -> list[Answer]:
    """The answers that found something else than this service finds now."""
    with client_of(address, headers) as client:
        return [
            answer
            for answer in answers
            if answer.status == httpx.codes.OK and search(client, answer.body) != (answer.status, answer.found)
        ]
