"""Rows that fail by a fault of ours: they hold up no others, and are not tried for ever."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Sequence
from random import sample
from typing import Final, Generic, TypeVar

from api.background.tasks import Result
from api.log import log
from store.connection.errors import StoreUnavailable

RETRY_SECONDS: Final = 5.0
MAX_RETRY_SECONDS: Final = 60.0  # of a row that fails alone: it is set aside after six minutes
MAX_FAILURES: Final = 10  # of a row alone
SET_ASIDE_SECONDS: Final = 3_600.0
MAX_FAILED_ROWS: Final = 1_000  # that are remembered: a query leaves them out by name
MAX_FAILED_TOGETHER: Final = 3  # rows that fail while none succeeds: it is no row's fault then
Row = TypeVar("Row", bound=Hashable)


async def isolate_failures(
    rows: Sequence[Row],
    batch: Callable[[Sequence[Row]], Awaitable[Result]],
    failing: set[Row],
    *outages: type[Exception],
) -> AsyncIterator[tuple[Sequence[Row], Result | Exception]]:
    """Runs a batch, and after an unexpected error each half of it, down to the row that fails alone.

    Yields the parts, with the result of each or the error of its only row. Raises what is no row's fault: `outages`,
    and the error where no row succeeds and MAX_FAILED_TOGETHER have failed since one did. `failing` remembers these.
    """
    parts, failed, has_success = [rows] if rows else [], list[tuple[Sequence[Row], Exception]](), False
    while parts:
        part = parts.pop()
        try:
            outcome = await batch(part)
        except outages:
            raise
        except Exception as error:
            if len(part) > 1:
                middle = len(part) // 2
                # in any order: rows that always fail are not always the first, so that the others have their turn
                parts += sample([part[:middle], part[middle:]], 2)
                continue
            failed.append((part, error))
            if not has_success and len(failing) < MAX_FAILED_TOGETHER:
                failing.add(part[0])
            if len(failing) == MAX_FAILED_TOGETHER and (not parts or len(failed) == MAX_FAILED_TOGETHER):
                raise
        else:
            has_success = True
            failing.clear()
            yield part, outcome
        while failed and (has_success or not parts):
            yield failed.pop()


class FailingRows(Generic[Row]):
    """Keeps a row that fails by a fault of ours from holding up others, and from being tried for ever.

    It is tried again after ever longer pauses, and after MAX_FAILURES once in SET_ASIDE_SECONDS.
    """

    def __init__(self, work: str, *, retry_seconds: float = RETRY_SECONDS) -> None:
        self._work = work
        self._retry_seconds = retry_seconds
        self._failures: dict[Row, tuple[int, float]] = {}  # how often it failed, and until when it pauses
        self._since_success: set[Row] = set()

    def paused(self) -> list[Row]:
        now = time.monotonic()
        return [row for row, (_, until) in self._failures.items() if now < until]

    def ready(self, rows: Iterable[Row]) -> list[Row]:
        paused = set(self.paused())
        return [row for row in rows if row not in paused]

    async def run(self, rows: Sequence[Row], batch: Callable[[Sequence[Row]], Awaitable[list[Result]]]) -> list[Result]:
        """The results of a batch but for rows that fail alone, which pause. Raises StoreUnavailable, and what all rows
        fail with (`isolate_failures`).
        """
        results = list[Result]()
        async for part, outcome in isolate_failures(rows, batch, self._since_success, StoreUnavailable):
            if isinstance(outcome, Exception):
                self._count(part[0], outcome)
                continue
            results += outcome
            for row in part:
                self._failures.pop(row, None)
        return results

    def _count(self, row: Row, error: Exception) -> None:
        """Counts and logs a failure of the row, which pauses then."""
        failures = self._failures.pop(row, (0, 0.0))[0] + 1
        log.error("a row fails; report it", work=self._work, row=str(row), failures=failures, exc_info=error)
        if failures < MAX_FAILURES:
            pause = backoff_seconds(self._retry_seconds, failures, MAX_RETRY_SECONDS)
        else:
            pause = SET_ASIDE_SECONDS
            log.error("a row is set aside for an hour; report it", work=self._work, row=str(row))
        self._failures[row] = failures, time.monotonic() + pause
        if len(self._failures) > MAX_FAILED_ROWS:
            self._failures.pop(next(iter(self._failures)))


def backoff_seconds(first: float, failures: int, maximum: float) -> float:
    """The pause after so many failures in a row."""
    return min(maximum, first * 2.0 ** min(failures - 1, 10))
