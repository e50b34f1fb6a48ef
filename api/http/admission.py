"""Admission: which requests are worked on, which wait, and which are refused before their bodies are read.

Searches, orders and health checks have budgets of their own, so that a flood of one leaves room for the others. What
finds its budget full waits in a short queue. The newest is served first, as in adaptive LIFO, and what has waited for
`WAIT_SECONDS` is refused, as in controlled delay (B. Maurer, "Fail at Scale", ACM Queue 13/8, 2015): a request that has
waited for long has a client which is about to give up.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

from api.errors import ApiError
from api.http.concurrency_limit import ConcurrencyLimit
from api.log import log

WAIT_SECONDS: Final = 0.01  # a refusal takes 50 ms at most, on a busy event loop too
MIN_WAITING: Final = 4
WAITING_SHARE: Final = 8  # of a limit waits at most: more would not begin within WAIT_SECONDS
ADAPTIVE: Final = {"search": (12, 24), "order": (48, 256)}
"""The minimum and the maximum of a worker's adaptive limits. Orders wait for the database, one after the other."""
FIXED: Final = {
    "health": 32,
    "catalogue": 4,  # writes to the catalogue, each in a thread
    "body": 512,  # requests whose bodies are on the way, each of 64 KiB at most
    "feed": 20_000,  # what waits for changes: it costs nothing but its connection
}
BUDGETS: Final = (*ADAPTIVE, *FIXED, "export")
EXPORT_SHARE: Final = 4  # pages of cursors take at most this part of the searches in flight
REFUSALS_PER_REQUEST: Final = 16  # an open loop at five times the peak needs four, unevenly shared by workers
MAX_REFUSAL_CREDIT: Final = 400
HOLD_SECONDS: Final = 1.0  # as `Retry-After` says
LOG_SECONDS: Final = 1.0


class Work(Protocol):
    """A request that waits to be worked on."""

    @property
    def is_abandoned(self) -> bool:
        """Whether its client has gone."""

    def start(self) -> None:
        """Begins it; `Budget.release` ends it."""

    def refuse(self) -> None:
        """Answers that it cannot be served in time."""


class BudgetMetrics(Protocol):
    def set_limit(self, budget: str, limit: int) -> None: ...
    def set_in_flight(self, budget: str, requests: int) -> None: ...
    def count_wait(self, budget: str, seconds: float) -> None: ...
    def count_shed(self, budget: str) -> None: ...


class Budget:
    """The requests of one kind that are in flight, and those that wait for them."""

    def __init__(self, name: str, limit: ConcurrencyLimit, metrics: BudgetMetrics, *, parts: int = 1) -> None:
        """Its limit is one of so many `parts` of this one, and at least one."""
        self._name = name
        self._whole_limit = limit
        self._parts = parts
        self._metrics = metrics
        self._waiting: deque[tuple[float, Work]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._shed = 0
        self._logged_at = float("-inf")
        self.in_flight = 0
        metrics.set_limit(name, self._limit)
        metrics.set_in_flight(name, 0)

    def submit(self, work: Work) -> None:
        """Starts the work, lets it wait, or refuses it."""
        if self.is_full:
            self._refuse(work)
        elif self.in_flight < self._limit:
            self._start(work, 0.0)
        else:
            loop = asyncio.get_running_loop()
            self._waiting.append((loop.time(), work))
            if self._timer is None:
                self._timer = loop.call_later(WAIT_SECONDS, self._refuse_late)

    @property
    def _limit(self) -> int:
        return max(1, self._whole_limit.value // self._parts)

    @property
    def is_full(self) -> bool:
        """Whether what is submitted now is refused."""
        limit = self._limit
        return self.in_flight >= limit and len(self._waiting) >= max(min(limit, MIN_WAITING), limit // WAITING_SHARE)

    def count_refusal(self) -> None:
        """Counts what was refused without being submitted."""
        self._metrics.count_shed(self._name)
        self._shed += 1
        now = asyncio.get_running_loop().time()
        if now - self._logged_at >= LOG_SECONDS:
            log.warning("overloaded: requests are refused", budget=self._name, refused=self._shed, limit=self._limit)
            self._shed, self._logged_at = 0, now

    def release(self) -> None:
        """Ends some work and starts what came last."""
        self.in_flight -= 1
        now = asyncio.get_running_loop().time()
        while self._waiting and self.in_flight < self._limit:
            arrived, work = self._waiting.pop()
            if not work.is_abandoned:
                self._start(work, now - arrived)
        self._metrics.set_in_flight(self._name, self.in_flight)
        self._metrics.set_limit(self._name, self._limit)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Works within the budget; raises ApiError `overloaded`."""
        await self.acquire()
        try:
            yield
        finally:
            self.release()

    async def acquire(self) -> None:
        """Takes a place, which `release` gives back; raises ApiError `overloaded`."""
        waiter = _Waiter()
        self.submit(waiter)
        try:
            await waiter.started
        except asyncio.CancelledError:
            if waiter.is_started:  # just before
                self.release()
            raise

    def _start(self, work: Work, waited: float) -> None:
        self.in_flight += 1
        self._metrics.set_in_flight(self._name, self.in_flight)
        self._metrics.count_wait(self._name, waited)
        work.start()

    def _refuse_late(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        while self._waiting and self._waiting[0][0] <= loop.time() - WAIT_SECONDS:
            self._refuse(self._waiting.popleft()[1])
        if self._waiting:
            self._timer = loop.call_at(self._waiting[0][0] + WAIT_SECONDS, self._refuse_late)

    def _refuse(self, work: Work) -> None:
        if not work.is_abandoned:
            self.count_refusal()
            work.refuse()


class _Waiter:
    """Part of a request that waits for another budget."""

    def __init__(self) -> None:
        self.started = asyncio.get_running_loop().create_future()

    @property
    def is_abandoned(self) -> bool:
        return self.started.cancelled()

    @property
    def is_started(self) -> bool:
        """Whether it was, and not refused."""
        return self.started.done() and not self.started.cancelled() and self.started.exception() is None

    def start(self) -> None:
        self.started.set_result(None)

    def refuse(self) -> None:
        self.started.set_exception(ApiError("overloaded"))


class RefusalCredit:
    """How many refusals may be sent for the work that is done.

    Beyond that, connections that ask again at once would leave no time for work, however cheap it is to refuse them.
    """

    def __init__(self) -> None:
        self._credit = MAX_REFUSAL_CREDIT

    def add_work(self) -> None:
        self._credit = min(MAX_REFUSAL_CREDIT, self._credit + REFUSALS_PER_REQUEST)

    def hold_seconds(self) -> float:
        """How long a connection that is refused now is not read from; 0 while there is credit."""
        if self._credit < 1:
            return HOLD_SECONDS
        self._credit -= 1
        return 0.0


class Admission:
    """The budgets of one worker; `max_concurrency` fixes the limits of searches and orders, each."""

    def __init__(self, max_concurrency: int | None, metrics: BudgetMetrics) -> None:
        self.refusals = RefusalCredit()
        self._adaptive = {
            name: ConcurrencyLimit(max_concurrency or minimum, max_concurrency or maximum)
            for name, (minimum, maximum) in ADAPTIVE.items()
        }
        limits = self._adaptive | {name: ConcurrencyLimit(limit, limit) for name, limit in FIXED.items()}
        self.budgets = {name: Budget(name, limit, metrics) for name, limit in limits.items()}
        self.budgets["export"] = Budget("export", limits["search"], metrics, parts=EXPORT_SHARE)

    def add_sample(self, budget: str, now: float, seconds: float) -> None:
        """Notes how long a request took, from its start to its end."""
        if budget in self._adaptive:
            self.refusals.add_work()
            self._adaptive[budget].add(now, seconds, self.budgets[budget].in_flight)


def budget_of(method: str, path: str) -> str:
    if path.startswith("/health/") or path == "/metrics":
        return "health"
    if path.startswith("/v1/catalogue/"):
        return "catalogue"
    if path == "/v1/gear/changes" or (method, path) == ("POST", "/v1/searches"):
        return "feed"  # a new saved search waits until the feed has begun
    if path == "/v1/gear/prices":
        return "export"
    if path in ("/v1/gear", "/v1/gear/cheapest") or path.startswith(("/v1/orders", "/orders/")):
        return "order"
    return "search"
