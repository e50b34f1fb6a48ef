"""The API's connections to the engine: TLS, names and the limit of connecting; on both event loops."""

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from opensearchpy import exceptions

from mappings.transport.http import CONNECT_SECONDS
from tests.support.faults.engine_client import NEXT, TIMEOUT, Run, client_of, number_of, response
from tests.support.faults.scripted_server import ScriptedServer, scripted_server
from tests.support.services.certificates import certificates


async def tls_case(server: ScriptedServer, certificate: Path | None, host: str) -> int:
    """The number that a client with this certificate file gets from the server under this name."""
    address = server.url.replace("127.0.0.1", host)
    settings = {} if certificate is None else {"opensearch_ca_certs": certificate}
    async with client_of(ScriptedServer(url=address), settings=settings) as client:
        responses = await asyncio.gather(*(number_of(client) for _ in range(3)), return_exceptions=True)
        if isinstance(responses[0], BaseException):
            raise responses[0]
        return responses[0]


def test_tls_is_verified_against_the_certificates_and_the_name(run: Run, tmp_path: Path) -> None:
    tls, _ = certificates(tmp_path, "localhost")

    async def case() -> None:
        async with scripted_server([[response(1)]], tls=tls) as server:
            assert await tls_case(server, tmp_path / "certificate.pem", "localhost") == 1
            assert server.connections == 1
            for certificate, host, reason in (
                (None, "localhost", "CERTIFICATE_VERIFY_FAILED"),
                (tmp_path / "certificate.pem", "127.0.0.1", "IP address mismatch"),
            ):
                with pytest.raises(exceptions.ConnectionError, match=reason):
                    await tls_case(server, certificate, host)
            assert len(server.requests) == 3, "nothing was sent to a server that is not trusted"

    run(case())


def test_a_plain_server_under_https_and_a_tls_server_under_http_are_reported(run: Run, tmp_path: Path) -> None:
    tls, _ = certificates(tmp_path, "localhost")

    async def case() -> None:
        async with scripted_server([NEXT]) as plain, scripted_server([NEXT], tls=tls) as encrypted:
            with pytest.raises(exceptions.ConnectionError):
                await tls_case(ScriptedServer(url=plain.url.replace("http", "https")), None, "127.0.0.1")
            async with client_of(ScriptedServer(url=encrypted.url.replace("https", "http"))) as client:
                with pytest.raises(exceptions.ConnectionError):
                    await number_of(client)

    run(case())


def test_a_handshake_that_hangs_costs_the_short_connect_limit(run: Run) -> None:
    async def case() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"https://127.0.0.1:{listener.getsockname()[1]}"
            async with client_of(ScriptedServer(url=address), timeout=20) as client:
                started = time.monotonic()
                with pytest.raises(exceptions.ConnectionError, match="no connection within") as error:
                    await number_of(client)
                assert not isinstance(error.value, exceptions.ConnectionTimeout)
                assert CONNECT_SECONDS * 0.9 < time.monotonic() - started < 10
            accepted, _ = listener.accept()
            with accepted:  # a ClientHello, and then the end
                accepted.settimeout(TIMEOUT)
                while accepted.recv(1 << 16):
                    pass

    run(case())


@contextmanager
def half_a_handshake(tls: ssl.SSLContext, count: int, *, reset: bool) -> Iterator[str]:
    """The URL of a server that ends each connection after so many bytes of its handshake."""

    def serve() -> None:
        with suppress(OSError):  # the end of the test
            while True:
                wire, _ = listener.accept()
                with wire:
                    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
                    received.write(wire.recv(1 << 16))
                    with suppress(ssl.SSLError):
                        tls.wrap_bio(received, sent, server_side=True).do_handshake()
                    wire.sendall(sent.read()[:count])
                    if reset:
                        wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"https://localhost:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("count", [0, 3, 130, 600, 1 << 16])
def test_a_connection_that_ends_within_its_handshake_is_refused(
    run: Run, tmp_path: Path, count: int, *, reset: bool
) -> None:
    tls, _ = certificates(tmp_path, "localhost")

    async def case() -> None:
        with half_a_handshake(tls, count, reset=reset) as url:
            settings = {"opensearch_ca_certs": tmp_path / "certificate.pem"}
            async with client_of(ScriptedServer(url=url), connections=8, settings=settings) as client:
                ended = await asyncio.gather(*(number_of(client) for _ in range(40)), return_exceptions=True)
                assert {type(each) for each in ended} == {exceptions.ConnectionError}

    run(case())


def test_a_name_with_an_address_that_is_dead_reaches_the_next(run: Run) -> None:
    """`localhost` is two addresses, on one of which nobody listens."""

    async def case() -> None:
        async with scripted_server([[response(1)]]) as server:
            named = ScriptedServer(url=server.url.replace("127.0.0.1", "localhost"))
            async with client_of(named) as client:
                assert await number_of(client) == 1

    run(case())
