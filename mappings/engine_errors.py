"""Errors of the engine: what its client raised in, one sentence for a person that names the setting out."""

import os
import re
import ssl
from urllib.parse import urlsplit

import aiohttp
from opensearchpy import exceptions
from opensearchpy.exceptions import OpenSearchException, TransportError

from mappings.connection import SearchSettings

# What urllib3 puts before its messages; the address is named by ours.
_POOL = re.compile(r"^HTTPS?Connection(Pool)?\(.*?\): ")

READ_ONLY_BLOCK = "read-only-allow-delete"


def address_of(settings: SearchSettings) -> str:
    """The engine's address without names and passwords."""
    shown = []
    for address in settings.opensearch_url.split(","):
        parts = urlsplit(address.strip())
        shown.append(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}")
    return ",".join(shown)


def is_disk_full(reason: str) -> bool:
    """Whether an index takes no writes because a disk of the engine has reached its flood stage."""
    return READ_ONLY_BLOCK in reason


def disk_full(reason: str) -> str:
    """The sentence for an engine whose disk is too full to write."""
    return (
        "the engine's disk is too full and its indices are read-only (flood stage): make room, "
        f"or raise cluster.routing.allocation.disk.watermark.flood_stage, and load again ({reason})"
    )


def explained(error: OpenSearchException, address: str) -> str:
    """One sentence for an error of the client."""
    if isinstance(error, exceptions.ConnectionTimeout):
        return f"OpenSearch at {address} (GEAR_OPENSEARCH_URL) did not answer in time"
    if isinstance(error, exceptions.ConnectionError):
        return f"OpenSearch cannot be reached at {address} (GEAR_OPENSEARCH_URL): {cause(error)}"
    if isinstance(error, exceptions.AuthenticationException | exceptions.AuthorizationException):
        return (
            f"OpenSearch at {address} refuses the login (GEAR_OPENSEARCH_USERNAME, GEAR_OPENSEARCH_PASSWORD): "
            f"{cause(error)}"
        )
    if is_disk_full(cause(error)):
        return disk_full(cause(error))
    return f"OpenSearch at {address} answered with an error: {cause(error)}"


def cause(error: OpenSearchException) -> str:
    """What the engine or the network said, in a few words."""
    if isinstance(error, exceptions.ConnectionError):
        return _unreached(error.info)
    if isinstance(error, TransportError):
        return f"{error.status_code} {error.error}: {_reason(error)}"
    return str(error)


def _reason(error: TransportError) -> str:
    info = error.info
    found = info.get("error") if isinstance(info, dict) else info
    reason = found.get("reason") if isinstance(found, dict) else found
    return str(reason)[:500]


def _unreached(error: object) -> str:
    """Why there is no connection, in the same words for the blocking client and for the other."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return _POOL.sub("", str(error))
    found = error.os_error
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"Failed to resolve '{error.host}' ({found})"
    if isinstance(found, ssl.SSLError) or not found.errno:
        return str(found)
    return f"Failed to establish a new connection: [Errno {found.errno}] {os.strerror(found.errno)}"
