"""What keeps a client from the engine is said in the same words, whichever of the two clients found it."""

import errno
import os
import socket
import ssl

import pytest
from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientConnectorSSLError
from aiohttp.client_reqrep import ConnectionKey
from opensearchpy.exceptions import ConnectionError as EngineUnreachable

from mappings.engine_errors import describe_error

KEY = ConnectionKey("h", 9200, is_ssl=False, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)
UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
REFUSED = OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 9200)")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            ClientConnectorError(KEY, REFUSED),
            f"Failed to establish a new connection: [Errno {errno.ECONNREFUSED}] {os.strerror(errno.ECONNREFUSED)}",
        ),
        (ClientConnectorDNSError(KEY, UNKNOWN), f"Failed to resolve 'h' ({UNKNOWN})"),
        (ClientConnectorSSLError(KEY, ssl.SSLError(1, "[SSL] wrong version number")), "[SSL] wrong version number"),
        (ClientConnectorError(KEY, OSError("Multiple exceptions")), "Multiple exceptions"),
    ],
)
def test_the_clients_without_waiting_say_it_as_the_waiting_ones_do(error: ClientConnectorError, reason: str) -> None:
    told = describe_error(EngineUnreachable("N/A", str(error), error), "http://h:9200")
    assert told == f"OpenSearch cannot be reached at http://h:9200 (GEAR_OPENSEARCH_URL): {reason}"
