"""An engine that tests of faults may stop and kill, and a name server that they may silence."""

import socket
from collections.abc import Iterator

import pytest

from tests.support.faults.name_server import NameServer
from tests.support.servers import Node, disposable_node


@pytest.fixture(scope="session")
def node() -> Iterator[Node]:
    """An engine of these tests' own; who stops it starts it again."""
    with disposable_node("faults") as started_node:
        yield started_node


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    """The name server of this process."""
    server = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", server.getaddrinfo)
    yield server
    server.respond()
