"""Adaptive concurrency limit: Gradient2 of Netflix's concurrency-limits. Pure.

Source: https://github.com/Netflix/concurrency-limits, `Gradient2Limit`. While requests take as long as they do in the
long run, the limit grows; when they take longer, a queue has formed somewhere, and the limit shrinks by the ratio. What
lasts becomes the long run, so an overload of minutes would raise the limit without end: the long average is capped.
"""

from typing import Final

TOLERANCE: Final = 1.5  # requests may take so many times the long average before the limit shrinks
QUEUE: Final = 4  # requests that may wait in what is limited, so that it never idles
SMOOTHING: Final = 0.2
MAX_LONG_SECONDS: Final = 0.1  # so responses take 0.2 s on average at most, whatever the overload
LONG_SAMPLES: Final = 600  # samples of the long average
WARM_UP_SAMPLES: Final = 10
SAMPLE_SECONDS: Final = 0.25
MIN_SAMPLE_REQUESTS: Final = 10


class ConcurrencyLimit:
    """A limit between two bounds, corrected by samples of how long requests took; fixed where the bounds are equal."""

    def __init__(self, minimum: int, maximum: int) -> None:
        self._minimum, self._maximum = minimum, maximum
        self._limit = float(minimum + (maximum - minimum) // 4)
        self._long = 0.0
        self._samples = 0
        self._sample_ends = 0.0
        self._sum = 0.0
        self._requests = 0
        self._max_in_flight = 0

    @property
    def value(self) -> int:
        """How many requests may be in flight."""
        return int(self._limit)

    def add(self, now: float, seconds: float, in_flight: int) -> None:
        """Notes a request that took so long and ended among so many."""
        self._sum += seconds
        self._requests += 1
        self._max_in_flight = max(self._max_in_flight, in_flight)
        if now >= self._sample_ends and self._requests >= MIN_SAMPLE_REQUESTS:
            self._correct(self._sum / self._requests)
            self._sum, self._requests, self._max_in_flight = 0.0, 0, 0
            self._sample_ends = now + SAMPLE_SECONDS

    def _correct(self, short: float) -> None:
        self._samples += 1
        if self._samples <= WARM_UP_SAMPLES:
            self._long += (short - self._long) / self._samples
        else:
            self._long += (short - self._long) * 2 / (LONG_SAMPLES + 1)
        if self._long > 2 * short:  # recovers from a long overload
            self._long *= 0.95
        if self._max_in_flight < self._limit / 2:  # not the limit decided how long they took
            return
        gradient = max(0.5, min(1.0, TOLERANCE * min(self._long, MAX_LONG_SECONDS) / max(short, 1e-9)))
        target = self._limit * gradient + QUEUE
        smoothed = self._limit * (1 - SMOOTHING) + target * SMOOTHING
        self._limit = max(self._minimum, min(self._maximum, smoothed))
