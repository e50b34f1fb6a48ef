"""Patience: a call that may fail for a while in, its result out, or the error once patience has run out."""

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from opensearchpy.exceptions import OpenSearchException

from indexer.engine.failures import CommandError, may_pass
from mappings.engine_errors import cause

FIRST_DELAY = 0.25  # seconds, doubled each time
LONGEST_DELAY = 20.0

Answer = TypeVar("Answer")


class GivenUpError(CommandError):  # what happened, beside the error that it is a kind of
    """Trying again did not help within the time that was allowed."""


class StoppedError(CommandError):
    """Somebody else ended the work meanwhile."""


class Waits:
    """The waits of one piece of work: longer each time, with jitter, until `seconds` went by without progress."""

    def __init__(self, seconds: float, stopped: threading.Event) -> None:
        self._seconds = seconds
        self._stopped = stopped
        self._since: float | None = None
        self._delay = FIRST_DELAY

    def progress(self) -> None:
        """Something was done: patience begins anew."""
        self._since = None
        self._delay = FIRST_DELAY

    def left(self) -> bool:
        """Whether there is patience for another wait."""
        return self._since is None or time.monotonic() - self._since < self._seconds

    def wait(self, reason: str) -> None:
        """Waits before the next try; raises GivenUpError or StoppedError."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        left = self._since + self._seconds - now
        if left <= 0:
            message = f"gave up after {self._seconds:g} seconds of trying again: {reason}"
            raise GivenUpError(message)
        delay = self._delay * random.uniform(0.5, 1)  # noqa: S311  # jitter, so that senders do not come in step
        self._delay = min(self._delay * 2, LONGEST_DELAY)
        if self._stopped.wait(min(delay, left)):
            message = "stopped"
            raise StoppedError(message)


class Patience:
    """How long to try again, for calls that may be repeated harmlessly."""

    def __init__(self, seconds: float, stopped: threading.Event | None = None) -> None:
        self.seconds = seconds
        self.stopped = stopped or threading.Event()

    def waits(self) -> Waits:
        """The waits of one new piece of work."""
        return Waits(self.seconds, self.stopped)

    def call(self, action: Callable[[], Answer]) -> Answer:
        """The action's result; an error that may pass is waited out."""
        waits = self.waits()
        while True:
            try:
                return action()
            except OpenSearchException as error:
                if not may_pass(error):
                    raise
                waits.wait(cause(error))
