"""Clients that send one request after the other without a pause, and what each was answered."""

import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import httpx

from tests.support.api.waiting import wait_until

CLIENTS = 4
TIMEOUT_SECONDS = 30.0
PAUSE_SECONDS = 0.05  # after a failure: what is down answers at once
SUCCESSES = (httpx.codes.OK, httpx.codes.CREATED)
SEARCH = "/v1/gear/search"
Found = tuple[int | None, list[int]]  # the total and the page's ids
Read = TypeVar("Read")


@dataclass(frozen=True)
class Response(Generic[Read]):
    """An answer to a body: when it was requested and had ended (monotonic seconds), its status (0: none), what was
    read of it where it succeeded, and what it said where it failed.
    """

    body: Mapping[str, Any]
    requested: float
    ended: float
    status: int
    read: Read | None = None
    failure: str = ""

    @property
    def succeeded(self) -> bool:
        return self.status in SUCCESSES


@contextmanager
def sending(
    client: Callable[[], httpx.Client],
    path: str,
    bodies: Iterable[Mapping[str, Any]],
    read: Callable[[httpx.Response], Read],
    clients: int = CLIENTS,
) -> Iterator[list[Response[Read]]]:
    """The answers so far to bodies that are sent, each once, until the block ends. Each client waits for its answer."""
    left, lock, ended = iter(bodies), threading.Lock(), threading.Event()
    responses: list[Response[Read]] = []

    def work() -> None:
        with client() as mine:
            while not ended.is_set():
                with lock:
                    body = next(left, None)
                if body is None:
                    return
                responses.append(answered(mine, path, body, read))
                if not responses[-1].succeeded:
                    time.sleep(PAUSE_SECONDS)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield responses
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def answered(
    client: httpx.Client, path: str, body: Mapping[str, Any], read: Callable[[httpx.Response], Read]
) -> Response[Read]:
    """The answer to one request."""
    requested = time.monotonic()
    try:
        response = client.post(path, json=body)
    except httpx.TransportError as error:
        return Response(body, requested, time.monotonic(), 0, failure=repr(error))
    ended = time.monotonic()
    if response.status_code in SUCCESSES:
        return Response(body, requested, ended, response.status_code, read(response))
    return Response(body, requested, ended, response.status_code, failure=response.text)


def wait_for_responses(responses: Sequence[Response[Any]], count: int) -> None:
    """Returns once so many more have come."""
    goal = len(responses) + count
    wait_until(lambda: len(responses) >= goal, 2 * TIMEOUT_SECONDS, "requests are not answered any more")


def client_of(address: str, headers: Mapping[str, str], trusted: ssl.SSLContext | bool = True) -> httpx.Client:
    """A client with a connection of its own."""
    return httpx.Client(base_url=address, headers=dict(headers), timeout=TIMEOUT_SECONDS, verify=trusted)


def found_in(response: httpx.Response) -> Found:
    """What a search found."""
    content = response.json()
    return content["total"], [item["id"] for item in content["gear"]]


def wrong_responses(
    responses: Iterable[Response[Found]], address: str, headers: Mapping[str, str]
) -> list[Response[Found]]:
    """The searches that found something else than this service finds now."""
    with client_of(address, headers) as client:
        return [
            response
            for response in responses
            if response.succeeded and answered(client, SEARCH, response.body, found_in).read != response.read
        ]
