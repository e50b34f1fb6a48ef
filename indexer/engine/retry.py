"""The one retry policy: exponential backoff with jitter until a deadline without progress.

It decides what is transient, too. A full disk is not: waiting does not empty it.
"""

import random
import threading
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

from opensearchpy import exceptions
from opensearchpy.exceptions import OpenSearchException, SerializationError, TransportError

from indexer.errors import CommandError
from mappings.engine_errors import cause, is_disk_full

FIRST_DELAY = 0.25  # seconds, doubled each time
MAX_DELAY = 20.0
TIMEOUT = 30.0  # seconds without progress

Result = TypeVar("Result")


class RetriesExhaustedError(CommandError):
    """Retrying did not help before the deadline."""


class StoppedError(CommandError):
    """The work was stopped from outside while it waited to retry."""


def is_transient(error: OpenSearchException) -> bool:
    """Whether the same call may succeed later: lost connections, overload, faults of the server."""
    if isinstance(error, exceptions.ConnectionError | SerializationError):
        return True
    if not isinstance(error, TransportError) or is_disk_full(cause(error)):
        return False
    status = error.status_code
    return isinstance(status, int) and (status == HTTPStatus.REQUEST_TIMEOUT or is_retryable(status))


def is_retryable(status: int) -> bool:
    """Whether a status, of a request or of one item in it, says to try again."""
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def is_overload(error: OpenSearchException) -> bool:
    """Whether the engine has more to do than it can, so that sending less at once may help."""
    busy = isinstance(error, TransportError) and error.status_code == HTTPStatus.TOO_MANY_REQUESTS
    return busy or isinstance(error, exceptions.ConnectionTimeout)


def is_too_large(error: OpenSearchException) -> bool:
    """Whether the engine, or a proxy before it, takes no request of this size."""
    return isinstance(error, TransportError) and error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Backoff:
    """The delays of one piece of work, doubled each time, until `timeout` seconds pass without progress."""

    def __init__(self, timeout: float, stopped: threading.Event) -> None:
        self._timeout = timeout
        self._stopped = stopped
        self._failing_since: float | None = None
        self._delay = FIRST_DELAY

    def reset(self) -> None:
        """Starts the deadline anew, after progress."""
        self._failing_since = None
        self._delay = FIRST_DELAY

    def wait(self, reason: str) -> None:
        """Sleeps until the next attempt; raises RetriesExhaustedError or StoppedError."""
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        left = self._failing_since + self._timeout - now
        if left <= 0:
            raise RetriesExhaustedError(f"gave up after {self._timeout:g} seconds of retries: {reason}")
        delay = self._delay * random.uniform(0.5, 1)  # noqa: S311  # jitter, so that threads do not come in step
        self._delay = min(self._delay * 2, MAX_DELAY)
        if self._stopped.wait(min(delay, left)):
            raise StoppedError("stopped")


class RetryPolicy:
    """Retries transient failures of calls that may be repeated harmlessly."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        """`timeout` is in seconds without progress; setting `stopped` ends every wait."""
        self.timeout = timeout
        self.stopped = threading.Event()

    def backoff(self) -> Backoff:
        return Backoff(self.timeout, self.stopped)

    def call(self, action: Callable[[], Result]) -> Result:
        """Returns the action's result; raises its error where that is not transient."""
        backoff = self.backoff()
        while True:
            try:
                return action()
            except OpenSearchException as error:
                if not is_transient(error):
                    raise
                backoff.wait(cause(error))
