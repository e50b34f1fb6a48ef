"""The bound on open connections of a process, and its limit of open files."""

import resource
import time

from api.log import log

RESERVED_FILES = 256  # for the engine, the database, callbacks, logs and what is about to be refused
# Beyond the bound so many are told so, and the rest are closed at once.
MAX_REFUSALS = 64
LOG_SECONDS = 1.0


def raise_open_files() -> None:
    """Raises the soft limit of open files to the hard one; child processes inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class ConnectionLimit:
    """How many connections a process takes: as many as are configured, and fewer where it may not open the files."""

    def __init__(self, configured: int) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = configured if files == resource.RLIM_INFINITY else max(1, files - RESERVED_FILES)
        self.max = min(configured, allowed)
        self._refused = 0
        self._logged_at = float("-inf")

    def is_exceeded(self, connections: int) -> bool:
        """Whether the newest of so many open connections is one too many; logs refusals once a second."""
        if connections <= self.max:
            return False
        self._refused += 1
        now = time.monotonic()
        if now - self._logged_at >= LOG_SECONDS:
            log.warning("connections are refused: see GEAR_MAX_CONNECTIONS", max=self.max, refused=self._refused)
            self._refused, self._logged_at = 0, now
        return True

    def is_far_exceeded(self, connections: int) -> bool:
        """Whether there are too many to tell the newest why it is refused."""
        return connections > self.max + MAX_REFUSALS
