"""The engine's host names: name servers that do not respond, and lookups of others that hang."""

import asyncio
import socket
import threading
from dataclasses import replace

import pytest
from opensearchpy import exceptions

from tests.support.faults.engine_client import NEXT, Run, client_of, number_of, response
from tests.support.faults.name_server import NameServer
from tests.support.faults.scripted_server import ScriptedServer, scripted_server

LAST = [response(1, "Connection: close\r\n")]
"""A response after which the next request needs a connection of its own."""


def named(server: ScriptedServer) -> ScriptedServer:
    """The server by a name that must be looked up."""
    return replace(server, url=server.url.replace("127.0.0.1", "localhost"))


def test_lookups_of_others_that_hang_delay_no_search(run: Run) -> None:
    async def case() -> None:
        released = threading.Event()
        loop = asyncio.get_running_loop()
        hung = [loop.run_in_executor(None, released.wait, 30) for _ in range(64)]  # where asyncio looks names up
        try:
            async with scripted_server([LAST]) as server, client_of(named(server)) as client:
                assert [await number_of(client) for _ in range(3)] == [1] * 3
                assert server.connections == 3
        finally:
            released.set()
            await asyncio.gather(*hung)

    run(case())


def test_without_a_name_server_the_known_address_is_used(run: Run, name_server: NameServer) -> None:
    async def case() -> None:
        async with scripted_server([LAST]) as server, client_of(server) as client:
            assert await number_of(client) == 1
            name_server.fall_silent()
            assert [await number_of(client) for _ in range(3)] == [1] * 3
            assert len(name_server.lookups) == 2, "one thread waits for the name server, not one a request"
            name_server.respond()
            name_server.error = socket.EAI_AGAIN
            assert await number_of(client) == 1

    run(case())


def test_a_name_that_is_gone_is_a_node_that_is_gone(run: Run, name_server: NameServer) -> None:
    async def case() -> None:
        async with scripted_server([LAST], [NEXT]) as server, client_of(server) as client:
            assert await number_of(client) == 1
            name_server.error = socket.EAI_NONAME
            with pytest.raises(exceptions.ConnectionError):
                await number_of(client)
            assert server.connections == 1
            name_server.error = None
            assert await number_of(client) == 2

    run(case())


def test_a_name_that_was_never_known_ends_within_the_time_to_connect(run: Run, name_server: NameServer) -> None:
    async def case() -> None:
        name_server.fall_silent()
        async with scripted_server([[response(1)]]) as server, client_of(server) as client:
            for _ in range(3):
                with pytest.raises(exceptions.ConnectionError, match="no connection within"):
                    await number_of(client)
            assert len(name_server.lookups) == 1
            name_server.respond()
            assert await number_of(client) == 1

    run(case())
