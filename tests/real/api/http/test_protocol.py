"""Below the app: malformed, slow and oversized requests get the error envelope and no more time."""

import asyncio
import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from http.client import HTTPResponse

import httpx
import pytest
from structlog.testing import capture_logs

from api.errors import ERRORS
from api.http.protocol import MAX_HEAD_BYTES, MAX_TARGET_BYTES, GearProtocol
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.app import serving, settings_for
from tests.support.indices import new_prefix


@pytest.fixture(scope="module")
def client(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The app behind the server that ships."""
    with serving(settings_for(opensearch_url, "tprotocol", tmp_path_factory.mktemp("protocol"))) as client:
        yield client


class ShortDeadline(GearProtocol):
    """The server's protocol with a short deadline for a head."""

    head_seconds = 0.2


class ShortKeepAlive(GearProtocol):
    """The server's protocol with a short wait for the next request of a connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        super().connection_made(transport)
        self.timeout_keep_alive = 1


class BusyAfterTheDeadline(GearProtocol):
    """A server that is busy from before a head arrives until after its deadline."""

    head_seconds = 0.05

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        super().connection_made(transport)
        time.sleep(0.3)


@pytest.fixture(scope="module")
def hasty_client(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same with short deadlines for heads and bodies."""
    settings = settings_for(opensearch_url, "tprotocol", tmp_path_factory.mktemp("hasty"))
    with serving(settings, http=ShortDeadline, body_seconds=0.2) as client:
        yield client


@pytest.fixture(scope="module")
def impatient_client(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same with a short wait for the next request, and more time for a body than that."""
    settings = settings_for(opensearch_url, "tprotocol", tmp_path_factory.mktemp("impatient"))
    with serving(settings, http=ShortKeepAlive, body_seconds=1.5) as client:
        yield client


def exchange(client: httpx.Client, sent: bytes) -> bytes:
    """Everything that comes back until the server closes the connection."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=30) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def status_of_next(connection: socket.socket) -> int:
    """The status of the next answer, which is read to its end."""
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response.status


def refusal(response: bytes, code: str = "bad_request") -> str:
    """The message of a refusal in the envelope, after which the connection is closed."""
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % ERRORS[code][0])
    assert b"connection: close" in head.lower()
    error = json.loads(body)["error"]
    assert error["code"] == code
    assert re.search(rb"(?i)x-request-id: (\S+)", head)[1].decode() == error["requestId"]  # type: ignore[index]  # it matches
    assert json.loads(body)["status"] == "error"
    return str(error["message"])


@pytest.mark.parametrize(
    "sent",
    [
        b"garbage\r\n\r\n",
        b"FOO /health/live HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n",
        b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_the_envelope(client: httpx.Client, sent: bytes) -> None:
    assert refusal(exchange(client, sent))
    assert client.get("/health/live").status_code == 200


@pytest.mark.parametrize("header", [b"X: " + b"a" * MAX_HEAD_BYTES, b"X: a\r\n" * 20_000])
def test_a_head_without_end_is_not_read_on(client: httpx.Client, header: bytes) -> None:
    start = b"GET /health/live HTTP/1.1\r\nHost: x\r\n"
    # One byte more than the limit and no more: the server closes with nothing left unread, which would be a reset.
    response = exchange(client, (start + header)[: MAX_HEAD_BYTES + 1])
    assert "65,536" in refusal(response)
    assert client.get("/health/live").status_code == 200


def test_a_flood_of_header_bytes_ends_the_connection(client: httpx.Client) -> None:
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=30) as connection:
        connection.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\nX: ")
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b"a" * 100_000_000)
    assert client.get("/health/live").status_code == 200


def test_a_head_that_does_not_arrive_is_not_waited_for(hasty_client: httpx.Client) -> None:
    assert "seconds" in refusal(exchange(hasty_client, b"GET /health/live HTTP/1.1\r\nHost:"))


def test_an_idle_connection_is_closed_without_a_word(hasty_client: httpx.Client) -> None:
    assert exchange(hasty_client, b"") == b""
    answered = exchange(hasty_client, b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(("header", "further"), [(b"", b"\r\n"), (b"Content-Length: 9999\r\n", b"a")])
def test_what_begins_no_request_keeps_no_connection_open(
    impatient_client: httpx.Client, header: bytes, further: bytes
) -> None:
    with closing(opened(impatient_client, b"GET /health/live HTTP/1.1\r\nHost: x\r\n%b\r\n" % header)) as connection:
        connection.settimeout(10)
        assert status_of_next(connection) == 200
        connection.sendall(further)
        assert connection.recv(65536) == b""


def test_a_request_that_has_begun_is_not_cut_off(impatient_client: httpx.Client) -> None:
    refused = b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"
    head = b"POST /v1/gear HTTP/1.1\r\nHost: x\r\nAuthorization: TOKEN\r\nContent-Type: application/json\r\n"
    with closing(opened(impatient_client, refused)) as connection:
        connection.settimeout(30)
        assert status_of_next(connection) == 401
        token = impatient_client.headers["authorization"].encode()
        # the rest of a body that nobody reads, and a request whose own body takes longer than a connection is kept idle
        connection.sendall(b"a" * 200_000 + head.replace(b"TOKEN", token) + b"Content-Length: 11\r\n\r\n{")
        assert "seconds" in refusal(b"".join(iter(lambda: connection.recv(65536), b"")))


def test_a_head_that_arrived_while_the_server_was_busy_is_answered(
    opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = settings_for(opensearch_url, "tprotocol", tmp_path_factory.mktemp("busy"))
    with serving(settings, http=BusyAfterTheDeadline) as client:
        request = b"GET /health/live HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        assert exchange(client, request).startswith(b"HTTP/1.1 200 ")


def test_a_body_that_does_not_arrive_is_not_waited_for(hasty_client: httpx.Client) -> None:
    token = hasty_client.headers["authorization"].encode()
    head = b"POST /v1/gear/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: " + token
    assert "seconds" in refusal(exchange(hasty_client, head + b'\r\nContent-Length: 11\r\n\r\n{"q'))


def test_a_client_that_goes_away_within_a_body_troubles_nobody(client: httpx.Client) -> None:
    token = client.headers["authorization"].encode()
    head = b"POST /v1/gear/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: " + token
    with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as connection:
        connection.sendall(head + b'\r\nContent-Length: 11\r\n\r\n{"q')
    assert client.get("/health/live").status_code == 200


def test_pages_of_the_description_refuse_unknown_parameters(client: httpx.Client) -> None:
    for path in ("/openapi.json", "/docs", "/docs/swagger-ui.css"):
        assert client.get(path).status_code == 200
        assert client.get(path, params={"x": 1}).status_code == 422


@pytest.mark.parametrize(
    "target", [b"/health/live?" + b"a&" * 5_000, b"/" + b"a" * MAX_TARGET_BYTES, b"/?" + b"a" * 70_000]
)
def test_a_long_request_target_is_a_414(client: httpx.Client, target: bytes) -> None:
    head = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    assert "8,192" in refusal(exchange(client, head[: MAX_HEAD_BYTES + 1]), "uri_too_long")


def test_a_request_target_of_just_the_limit_is_taken(client: httpx.Client) -> None:
    target = "/v1/" + "a" * (MAX_TARGET_BYTES - 8) + "?b=c"
    assert len(target) == MAX_TARGET_BYTES
    assert client.get(target).status_code == 404
    assert client.get(target + "d").status_code == 414


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health/live HTTP/1.1\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        b"GET /health/live HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /health/live HTTP/1.1\r\nHost: a b\r\n\r\n",
        b"POST /v1/gear/search HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_a_request_names_one_host(client: httpx.Client, head: bytes) -> None:
    assert "Host" in refusal(exchange(client, head))


def test_http_1_0_needs_no_host(client: httpx.Client) -> None:
    assert exchange(client, b"GET /health/live HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_an_upgrade_request_logs_nothing(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    head = b"GET /health/live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
    with socket.create_connection((client.base_url.host, client.base_url.port or 80), timeout=30) as connection:
        connection.sendall(head)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert caplog.records == []


def test_connections_beyond_the_bound_get_an_answer_and_are_logged(
    opensearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("bound")
    request = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    with (
        serving(settings_for(opensearch_url, "tprotocol", folder, max_connections=3)) as client,
        ExitStack() as opened,
        capture_logs() as lines,
    ):
        address = (client.base_url.host, client.base_url.port or 80)
        for _ in range(2):  # and the client's own
            connection = opened.enter_context(socket.create_connection(address, timeout=30))
            connection.sendall(request)
            assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        response = exchange(client, request)
        assert "connections" in refusal(response, "overloaded")
        assert b"retry-after: 1" in response.lower()
        assert exchange(client, b"") == b""  # one that sends nothing is not held for long
        assert client.get("/health/live").status_code == 200
    assert [line["max"] for line in lines if line["event"].startswith("connections are refused")] == [3]


LISTED = 2**20  # bytes of the price list


class ShortWrites(GearProtocol):
    """The server's protocol with a short deadline for a client that takes nothing, of which the kernel keeps little."""

    write_seconds = 0.5

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the server's own
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**16)


@pytest.fixture(scope="module")
def loaded(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The same with a price list of more than what the kernel keeps of a connection."""
    with new_prefix(opensearch_url) as prefix:
        settings = settings_for(opensearch_url, prefix, tmp_path_factory.mktemp("slow"))
        put_index(settings, CS2, [simple_item(number, 1.0, f"name {number} {'x' * 450}") for number in range(1, 2001)])
        with serving(settings, http=ShortWrites) as client:
            assert len(client.get("/v1/gear/prices").content) > LISTED
            yield client


def opened(client: httpx.Client, sent: bytes, received: int | None = None) -> socket.socket:
    """A connection on which this was sent, with the client's token in the place of `TOKEN`."""
    connection = socket.socket()
    if received is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    connection.connect((client.base_url.host, client.base_url.port or 80))
    connection.sendall(sent.replace(b"TOKEN", client.headers["authorization"].encode()))
    return connection


@pytest.mark.parametrize("path", [b"/v1/gear/search", b"/v1/gear"])
def test_bodies_that_do_not_come_take_no_place_of_others(loaded: httpx.Client, path: bytes) -> None:
    head = b"POST %b HTTP/1.1\r\nHost: x\r\nAuthorization: TOKEN\r\nContent-Type: application/json\r\n" % path
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(opened(loaded, head + b"Content-Length: 12\r\n\r\n{"))) for _ in range(300)]
        for _ in range(20):
            assert loaded.post("/v1/gear/search", json={}).status_code == 200
            assert loaded.post("/v1/gear", json={}).status_code == 422
        for connection in slow[:5]:  # and each is answered once it has come
            connection.sendall(b'"limit": 1}')
            assert connection.recv(15) in (b"HTTP/1.1 200 OK", b"HTTP/1.1 422 Un")


def test_readers_that_take_nothing_take_no_place_of_others_and_are_closed(loaded: httpx.Client) -> None:
    sent = b"GET /v1/gear/prices HTTP/1.1\r\nHost: x\r\nAuthorization: TOKEN\r\n\r\n"
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(opened(loaded, sent, 4096))) for _ in range(12)]
        for _ in range(5):
            assert loaded.get("/v1/gear/prices").status_code == 200
            assert loaded.post("/v1/gear/search", json={"cursor": "*", "limit": 1}).status_code == 200
        time.sleep(2 * ShortWrites.write_seconds)
        read = 0
        with suppress(ConnectionResetError):
            while part := slow[0].recv(65536):
                read += len(part)
        assert read < LISTED, "the rest was still sent"
