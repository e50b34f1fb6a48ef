"""Describes errors of the engine's client in one sentence that names the setting to look at."""

import re

from opensearchpy import exceptions
from opensearchpy.exceptions import OpenSearchException, TransportError

# What urllib3 puts before its messages; ours name the address.
_POOL = re.compile(r"^HTTPS?Connection(Pool)?\(.*?\): ")


def is_disk_full(reason: str) -> bool:
    """Whether an index takes no writes because one of the engine's disks has reached the flood stage."""
    return "read-only-allow-delete" in reason


def disk_full_message(reason: str) -> str:
    return (
        "the engine's disk is too full and its indices are read-only (flood stage): make room, "
        f"or raise cluster.routing.allocation.disk.watermark.flood_stage, and load again ({reason})"
    )


def describe_error(error: OpenSearchException, address: str) -> str:
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
        return disk_full_message(cause(error))
    return f"OpenSearch at {address} answered with an error: {cause(error)}"


def cause(error: Exception) -> str:
    """What the engine or the network said, in a few words; what any other error says."""
    if isinstance(error, exceptions.ConnectionError):
        return _POOL.sub("", str(error.error))
    if isinstance(error, TransportError):
        return f"{error.status_code} {error.error}: {_reason(error)}"
    return str(error)


def _reason(error: TransportError) -> str:
    info = error.info
    detail = info.get("error") if isinstance(info, dict) else info
    reason = detail.get("reason") if isinstance(detail, dict) else detail
    return str(reason)[:500]
