"""What keeps a client from the engine is said in the same words, whichever of the two clients found it."""

import errno
import os
import socket

import pytest
from opensearchpy.exceptions import ConnectionError as EngineUnreachable

from mappings.connection import SearchSettings, connect, connect_async
from mappings.engine_errors import describe_error

REFUSED = f"Failed to establish a new connection: [Errno {errno.ECONNREFUSED}] {os.strerror(errno.ECONNREFUSED)}"


async def reasons(url: str) -> list[str]:
    """What the client that waits and the one that does not say of an engine that they do not reach."""
    settings = SearchSettings(_env_file=None, opensearch_url=url)
    blocking, client = connect(settings, retries=0), connect_async(settings, retries=0)
    prefix = f"OpenSearch cannot be reached at {url} (GEAR_OPENSEARCH_URL): "
    try:
        with pytest.raises(EngineUnreachable) as first:
            blocking.info()
        with pytest.raises(EngineUnreachable) as second:
            await client.info()
    finally:
        blocking.close()
        await client.close()
    return [describe_error(error.value, url).removeprefix(prefix) for error in (first, second)]


async def test_a_port_on_which_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert await reasons(f"http://127.0.0.1:{port}") == [REFUSED, REFUSED]


async def test_a_name_that_nobody_has() -> None:
    messages = await reasons("http://engine.invalid:9200")
    assert messages[0] == messages[1]
    assert messages[0].startswith("Failed to resolve 'engine.invalid' (")
