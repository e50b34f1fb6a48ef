"""The size and the number of concurrent bulk requests: fixed, and halved while the engine has too much to do.

Pure: no clock. A setting found by trial was not faster than a fixed one on any engine measured (decision 16).
"""

import threading

MEBIBYTE = 1024 * 1024
REQUEST_BYTES = 4 * MEBIBYTE
MIN_REQUEST_BYTES = 64 * 1024
# Of all requests in flight together: memory does not grow with the concurrency.
MAX_BYTES_IN_FLIGHT = 16 * MEBIBYTE
RECOVERY_SECONDS = 60.0  # without a rejected request, after which a halving is taken back


class Throttle:
    """Limits the requests of several threads; times are in seconds on a clock that never goes back."""

    def __init__(self, concurrency: int, max_bytes_in_flight: int = MAX_BYTES_IN_FLIGHT) -> None:
        self._max_concurrency = self.concurrency = concurrency
        self._max_bytes = self.request_bytes = min(REQUEST_BYTES, max_bytes_in_flight // concurrency)
        self.max_bytes_in_flight = max_bytes_in_flight
        self.throttled = 0  # how often it was halved
        self._lock = threading.Lock()
        self._changed_at = 0.0

    def as_json(self) -> dict[str, int]:
        """What is in force now, and how often it was halved."""
        return {"bytes": self.request_bytes, "concurrency": self.concurrency, "throttled": self.throttled}

    def overloaded(self, sent_at: float, now: float) -> None:
        """Halves the concurrency, then the size: a request sent at `sent_at` was too much for the engine."""
        with self._lock:
            if self.throttled and sent_at < self._changed_at:
                return  # sent before the last halving, so it says nothing about that
            if self.concurrency > 1:
                self.concurrency //= 2
            else:
                self.request_bytes = max(min(MIN_REQUEST_BYTES, self.request_bytes), self.request_bytes // 2)
            self._changed_at = now
            self.throttled += 1

    def too_large(self, size: int) -> None:
        """Halves the size for good: a request of `size` bytes was refused for it."""
        with self._lock:
            self._max_bytes = max(1, min(self._max_bytes, size // 2))
            self.request_bytes = min(self.request_bytes, self._max_bytes)

    def succeeded(self, now: float) -> None:
        """Takes one halving back when the last change is long enough ago."""
        with self._lock:
            if now - self._changed_at < RECOVERY_SECONDS:
                return
            if self.request_bytes < self._max_bytes:
                self.request_bytes = min(self.request_bytes * 2, self._max_bytes)
            elif self.concurrency < self._max_concurrency:
                self.concurrency = min(self.concurrency * 2, self._max_concurrency)
            self._changed_at = now
