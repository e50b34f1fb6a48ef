"""More than can be answered in time: what is not refused is answered, and the rest of the service goes on."""

import asyncio
import http.client
import re
import secrets
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest
from structlog.testing import capture_logs

from api.current_request import Arrival, start
from api.engine.client import Engine
from api.errors import ApiError
from api.http.protocol import GearProtocol
from api.http.request_id import CLIENT_CLOSED_REQUEST
from mappings.connection import SearchSettings
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import wait_until
from tests.support.app import serving, settings_for
from tests.support.indices import drop_indices
from tests.support.servers import TcpProxy

CLIENTS = 400
LIMIT_SECONDS = 30.0
"""A busy machine adds to what the service takes."""


@pytest.fixture
def wire(opensearch_url: str) -> Iterator[TcpProxy]:
    """A wire before the real engine."""
    with TcpProxy.before(opensearch_url) as started:
        yield started


@pytest.fixture
def client(opensearch_url: str, wire: TcpProxy, tmp_path: Path) -> Iterator[httpx.Client]:
    """A real server with a few items, whose engine is behind that wire."""
    prefix = f"t{secrets.token_hex(5)}"
    (platform,) = read_platforms()
    settings = SearchSettings(opensearch_url=opensearch_url, index_prefix=prefix)
    put_index(settings, platform, map(simple_item, range(1, 4)))
    try:
        with serving(settings_for(wire.url, prefix, tmp_path)) as started:
            yield started
    finally:
        drop_indices(opensearch_url, prefix)


async def crowd(url: str, headers: dict[str, str]) -> tuple[list[httpx.Response], list[httpx.Response], httpx.Response]:
    """The answers to so many clients with two searches each, to health checks beside them, and to an order."""
    # a connection for each request: on a busy machine the server may close one that was idle for its five seconds
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60, limits=limits) as client:

        async def search(number: int) -> list[httpx.Response]:
            bodies = ({"filters": {"price": {"max": number + half / 10}}} for half in (1, 2))
            return [await client.post("/v1/gear/search", json=body) for body in bodies]

        async def health() -> list[httpx.Response]:
            return [await client.get("/health/live") for _ in range(20)]

        order = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": "2"}
        searches = asyncio.gather(*(search(number) for number in range(CLIENTS)))
        checks = asyncio.create_task(health())
        placed = await client.post("/v1/gear", json=order)
        return [each for pair in await searches for each in pair], await checks, placed


def test_a_crowd_at_a_slow_engine_is_answered_or_refused(client: httpx.Client, wire: TcpProxy) -> None:
    wire.delay = 0.1
    headers = {"Authorization": client.headers["Authorization"]}
    searches, checks, placed = asyncio.run(crowd(str(client.base_url), headers))
    assert {response.status_code for response in checks} == {200}
    assert placed.status_code == 201, placed.text
    counted = Counter(response.status_code for response in searches)
    assert set(counted) == {200, 503}, counted
    for response in searches:
        if response.status_code == 503:
            error_of(response, "overloaded")
    wire.delay = 0.0
    assert client.post("/v1/gear/search", json={"limit": 7}).status_code == 200
    metrics = client.get("/metrics").text
    assert f'gear_requests_shed_total{{budget="search"}} {counted[503]:.1f}' in metrics
    assert 'gear_requests_in_flight{budget="search"} 0.0' in metrics


def test_the_search_of_a_client_that_has_gone_is_dropped(client: httpx.Client, wire: TcpProxy) -> None:
    client.post("/v1/gear/search", json={"limit": 5}).raise_for_status()
    wire.hang()
    url, body = client.base_url, b'{"limit": 6}'
    head = f"POST /v1/gear/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    head += f"\r\nAuthorization: {client.headers['Authorization']}\r\n\r\n"
    with capture_logs() as lines:
        with socket.create_connection((url.host, url.port or 80)) as connection:
            connection.sendall(head.encode() + body)
            wait_until(lambda: wire.bytes_held > 0)
        # the engine would have 30 seconds
        started = monotonic()
        wait_until(lambda: CLIENT_CLOSED_REQUEST in [line.get("status") for line in lines])
        assert monotonic() - started < 10
    wire.restore()
    assert client.post("/v1/gear/search", json={"limit": 6}).status_code == 200
    assert 'gear_requests_in_flight{budget="search"} 0.0' in client.get("/metrics").text


async def test_the_engine_has_only_the_time_that_is_left(wire: TcpProxy) -> None:
    engine = Engine(SearchSettings(opensearch_url=wire.url, index_prefix="tnone"), timeout=20.0)
    wire.hang()
    try:
        loop = asyncio.get_running_loop()
        start(Arrival(loop.time() - 19.5))
        began = loop.time()
        with pytest.raises(ApiError, match="overloaded"):
            await engine.search(list(read_platforms()), {})
        assert loop.time() - began < 10
    finally:
        await engine.close()


HEADS = {
    "whole": b"Content-Length: 2\r\n",
    "split": b"Content-Length: 2\r\n",
    "chunked": b"Transfer-Encoding: chunked\r\n",
    "both": b"Content-Length: 2\r\nContent-Length: 2\r\n",
    "last": b"Content-Length: 2\r\nConnection: close\r\n",
}


def test_a_refusal_of_an_unread_search_leaves_its_connection_in_order(
    client: httpx.Client, wire: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire.delay = 0.5
    unread = Counter[tuple[str, bool]]()
    decide = GearProtocol._refuse_unread

    def counted(protocol: GearProtocol, data: bytes) -> bool:
        is_refused = decide(protocol, data)
        kind = re.search(rb"x-request-id: ([a-z]+)", data)
        unread[kind[1].decode() if kind else "", is_refused] += 1
        return is_refused

    monkeypatch.setattr(GearProtocol, "_refuse_unread", counted)
    target = (client.base_url.host, client.base_url.port or 80)
    token = client.headers["Authorization"].encode()

    def ask(connection: socket.socket, kind: str, number: int) -> None:
        head = b"POST /v1/gear/search HTTP/1.1\r\nhost: a\r\nauthorization: %b\r\nx-request-id: %b.%d\r\n"
        body = b"2\r\n{}\r\n0\r\n\r\n" if kind == "chunked" else b"{}"
        request = head % (token, kind.encode(), number) + HEADS[kind] + b"content-type: application/json\r\n\r\n" + body
        cut = len(request) - (1 if kind == "split" else 0)
        connection.sendall(request[:cut])
        if kind == "split":
            sleep(0.001)
            connection.sendall(request[cut:])

    def read_response(connection: socket.socket) -> http.client.HTTPResponse:
        response = http.client.HTTPResponse(connection)
        response.begin()
        response.read()
        return response

    kinds = [kind for kind in HEADS for _ in range(40)]
    connections = [socket.create_connection(target, timeout=30) for _ in kinds]
    try:
        for rounds in range(2):
            for number, (kind, connection) in enumerate(zip(kinds, connections, strict=True)):
                if rounds == 0 or kind not in ("both", "last"):
                    ask(connection, kind, number)
            for number, (kind, connection) in enumerate(zip(kinds, connections, strict=True)):
                if rounds == 0 or kind not in ("both", "last"):
                    response = read_response(connection)
                    assert response.status == 400 if kind == "both" else response.status in (200, 503)
                    if kind != "both":
                        assert response.headers["X-Request-Id"] == f"{kind}.{number}"
    finally:
        for connection in connections:
            connection.close()
    assert unread["whole", True] > 0
    assert {kind for kind, is_refused in unread if is_refused} <= {"whole", "split"}  # whose pieces may arrive as one
