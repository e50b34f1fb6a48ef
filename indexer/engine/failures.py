"""Failures: errors of the engine and its client in, whether trying again, or less at once, may help out."""

from http import HTTPStatus

from opensearchpy import exceptions
from opensearchpy.exceptions import OpenSearchException, SerializationError, TransportError

from mappings.engine_errors import cause, is_disk_full


class CommandError(Exception):
    """Something that was asked for was not done; the message is one sentence that says what to do next."""


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
