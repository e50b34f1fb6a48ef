"""Failures: errors of the engine and its client in, one sentence for a person and whether trying again may help out."""

import re
from http import HTTPStatus
from urllib.parse import urlsplit

from opensearchpy import exceptions
from opensearchpy.exceptions import OpenSearchException, SerializationError, TransportError

from mappings.connection import SearchSettings

# What urllib3 puts before its messages; the address is named by ours.
_POOL = re.compile(r"^HTTPS?Connection(Pool)?\(.*?\): ")

READ_ONLY_BLOCK = "read-only-allow-delete"


class CommandError(Exception):
    """Something that was asked for was not done; the message is one sentence that says what to do next."""


def address_of(settings: SearchSettings) -> str:
    """The engine's address without names and passwords."""
    shown = []
    for address in settings.opensearch_url.split(","):
        parts = urlsplit(address.strip())
        shown.append(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}")
    return ",".join(shown)


def may_pass(error: OpenSearchException) -> bool:
    """Whether the same call may succeed a little later: lost connections, overload, faults of the server."""
    if isinstance(error, exceptions.ConnectionError | SerializationError):
        return True
    if not isinstance(error, TransportError) or is_disk_full(cause(error)):
        return False
    status = error.status_code
    return isinstance(status, int) and (
        status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.REQUEST_TIMEOUT) or status >= 500
    )


def is_overload(error: OpenSearchException) -> bool:
    """Whether the engine has more to do than it can: less at once may help."""
    busy = isinstance(error, TransportError) and error.status_code == HTTPStatus.TOO_MANY_REQUESTS
    return busy or isinstance(error, exceptions.ConnectionTimeout)


def is_too_large(error: OpenSearchException) -> bool:
    """Whether the engine, or a proxy before it, takes no request of this size."""
    return isinstance(error, TransportError) and error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


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
        return _POOL.sub("", str(error.info))
    if isinstance(error, TransportError):
        return f"{error.status_code} {error.error}: {_reason(error)}"
    return str(error)


def _reason(error: TransportError) -> str:
    info = error.info
    found = info.get("error") if isinstance(info, dict) else info
    reason = found.get("reason") if isinstance(found, dict) else found
    return str(reason)[:500]
