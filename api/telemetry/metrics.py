"""What the processes count for Prometheus. Names and units follow its conventions; each is of one process or worker."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.process_collector import ProcessCollector

from api.http.admission import BUDGETS

# from a cached search to twice the engine's default deadline
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
WAIT_BUCKETS: Final = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0)
NO_ROUTE: Final = "none"
MAX_TOKENS: Final = 1000
OTHER_TOKENS: Final = "other"
"""The label of all tokens but the first `MAX_TOKENS`: a label that may have any number of values fills a database."""
FAILURES: Final = (500, 503)
CHANGES: Final = ("listed", "changed", "gone")
DROPPED_TEXTS: Final = ("full", "store", "long", "personal")
LAG_SECONDS: Final = 0.25  # between two measurements of the event loop
REFUSED_ITEMS: Final = ("price", "digest", "age", "unknown")


class LabelledCounter:
    """Counts by a label, from 0 on for these values. Looking a child up by its label takes longer than counting, so
    children are cached.
    """

    def __init__(
        self, registry: CollectorRegistry, name: str, text: str, label: str, values: Sequence[str] = ()
    ) -> None:
        self._child_of = cache(Counter(name, text, (label,), registry=registry).labels)
        for value in values:
            self._child_of(value)

    def __call__(self, value: str, amount: int = 1) -> None:
        self._child_of(value).inc(amount)


def _gauge(registry: CollectorRegistry, name: str, text: str, label: str) -> Callable[[str, int], None]:
    """Sets a gauge by a label, of which all workers' are one sum."""
    child_of = cache(Gauge(name, text, (label,), registry=registry, multiprocess_mode="livesum").labels)
    return lambda value, number: child_of(value).set(number)


def _histogram(
    registry: CollectorRegistry, name: str, text: str, label: str, buckets: tuple[float, ...]
) -> Callable[[str, float], None]:
    """Observes seconds by a label."""
    child_of = cache(Histogram(name, text, (label,), registry=registry, buckets=buckets).labels)
    return lambda value, seconds: child_of(value).observe(seconds)


class RequestMetrics:
    """Requests: what became of them, how long they took, and how long they waited for their budget."""

    def __init__(self, registry: CollectorRegistry) -> None:
        requests = Counter("gear_http_requests", "Requests answered", ("method", "route", "code"), registry=registry)
        text, labels = "Seconds from a request's head to the end of its response", ("method", "route")
        duration = Histogram("gear_http_request_duration_seconds", text, labels, registry=registry, buckets=BUCKETS)
        self.set_in_flight = _gauge(registry, "gear_requests_in_flight", "Requests in flight", "budget")
        limit = "How many requests may be in flight"
        self.set_limit = _gauge(registry, "gear_concurrency_limit", limit, "budget")
        queue = "Seconds that requests waited for their budget"
        self.count_wait = _histogram(registry, "gear_queue_seconds", queue, "budget", WAIT_BUCKETS)
        shed = "Requests refused with 503 `overloaded`"
        self.count_shed = LabelledCounter(registry, "gear_requests_shed", shed, "budget", BUDGETS)
        self._requests_of = cache(requests.labels)
        self._duration_of = cache(partial(_with_failures, requests, duration))

    def count_response(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Counts a request. Those without a route for their path and method share one label, so that no client can
        invent labels.
        """
        if route is None or status == HTTPStatus.METHOD_NOT_ALLOWED:
            method, route = NO_ROUTE, NO_ROUTE
        self._duration_of(method, route).observe(seconds)
        self._requests_of(method, route, status).inc()


def _with_failures(requests: Counter, duration: Histogram, method: str, route: str) -> Histogram:
    """The durations of a route, whose failures are counted from 0 on: a counter that begins at 1 has no rate."""
    for code in FAILURES:
        requests.labels(method, route, code)
    return duration.labels(method, route)


class LimitMetrics:
    """Rate limits: what tokens use, and who was refused."""

    def __init__(self, registry: CollectorRegistry) -> None:
        cost = Counter("gear_rate_limit_cost", "What requests cost, by the token's id", ("token",), registry=registry)
        text = "Requests refused with 429, by the limit (token, address, searches) and the token's id"
        refused = Counter("gear_rate_limited_requests", text, ("limit", "token"), registry=registry)
        failures = "Times that the shared storage of rate limits did not answer, and this process counted alone"
        self.count_storage_failure = Counter("gear_rate_limit_storage_failures", failures, registry=registry).inc
        self._tokens: set[str] = set()
        self._cost_of, self._refused_of = cache(cost.labels), cache(refused.labels)
        self._refused_of("address", "")

    def count_cost(self, token: str, cost: int) -> None:
        self._cost_of(self._label(token)).inc(cost)

    def count_refused(self, limit: str, token: str = "") -> None:
        """Counts a request over a limit; only the limit of addresses has no token."""
        self._refused_of(limit, self._label(token) if token else "").inc()

    def _label(self, token: str) -> str:
        if token not in self._tokens:
            if len(self._tokens) >= MAX_TOKENS:
                return OTHER_TOKENS
            self._tokens.add(token)
            for limit in ("token", "searches"):
                self._refused_of(limit, token)
        return token


class EngineMetrics:
    """Requests to the engine: the engine's own time, and the wait for a connection."""

    def __init__(self, registry: CollectorRegistry) -> None:
        text = "Seconds from a request's sending to the engine's complete response, by outcome: ok, error, unanswered"
        labels = ("operation", "outcome")
        duration = Histogram("gear_engine_request_duration_seconds", text, labels, registry=registry, buckets=BUCKETS)
        wait = "Seconds that requests to the engine waited for a connection, by pool: search, order, feed"
        self._duration_of = cache(duration.labels)
        self.count_wait = _histogram(registry, "gear_engine_pool_wait_seconds", wait, "pool", WAIT_BUCKETS)
        text = "Nodes of the engine that get no requests because they did not answer"
        ejected = Gauge("gear_engine_nodes_ejected", text, registry=registry, multiprocess_mode="livemax")
        self.set_ejected_nodes = ejected.set

    def count_request(self, operation: str, outcome: str, seconds: float) -> None:
        self._duration_of(operation, outcome).observe(seconds)


class StoreMetrics:
    """Transactions of the order store, and the wait for a connection."""

    def __init__(self, registry: CollectorRegistry) -> None:
        duration = "Seconds from a transaction's begin to its end, by kind: read, write"
        wait = "Seconds that transactions waited for a connection and, on SQLite, for their turn to write"
        self._count_duration = _histogram(
            registry, "gear_store_transaction_duration_seconds", duration, "kind", BUCKETS
        )
        self._count_wait = _histogram(registry, "gear_store_pool_wait_seconds", wait, "kind", WAIT_BUCKETS)

    def count_transaction(self, kind: str, waited: float, seconds: float) -> None:
        """Counts a transaction, however it ended."""
        self._count_wait(kind, waited)
        self._count_duration(kind, seconds)


class OrderMetrics:
    """Real orders: the states that they reached, and those refused for what the index has of their item."""

    def __init__(self, registry: CollectorRegistry) -> None:
        reached = "Real orders that reached a state by a request or by their expiry"
        refused = "Orders refused for what the index has of their item, by reason: price, digest, age, unknown"
        self.count_transitions = LabelledCounter(registry, "gear_order_transitions", reached, "state")
        self.count_refused_item = LabelledCounter(
            registry, "gear_order_refused_items", refused, "reason", REFUSED_ITEMS
        )


class FeedMetrics:
    """The change feed: what was recorded, how far the recorder is behind, and who waits."""

    def __init__(self, registry: CollectorRegistry) -> None:
        changes = "Changes recorded by the change feed"
        self.count_changes = LabelledCounter(registry, "gear_feed_changes", changes, "change", CHANGES)
        text = "Readers of changes that wait for the next"
        waiting = Gauge("gear_feed_waiting_readers", text, registry=registry, multiprocess_mode="livesum")
        latest: dict[str, Any] = {"registry": registry, "multiprocess_mode": "livemax"}
        text = "Seconds since the recorder was last up to date; 0 where this process does not record"
        lag = Gauge("gear_feed_lag_seconds", text, **latest)
        text = "Seconds since all changes were matched with the saved searches; 0 where this process does not match"
        matching = Gauge("gear_saved_searches_lag_seconds", text, **latest)
        self.set_lag, self.set_waiting_readers, self.set_matching_lag = lag.set, waiting.set, matching.set


class SearchMetrics:
    """Searches whose text was not found, or not as it was typed."""

    def __init__(self, registry: CollectorRegistry) -> None:
        unanswered = "Searches whose text found nothing (none), not all of its words (partial), or similar words"
        dropped = "Unanswered searches whose text is not kept, by reason: full, store (it failed), long, personal"
        self.count_unanswered = LabelledCounter(registry, "gear_unanswered_searches", unanswered, "reading")
        self.count_dropped = LabelledCounter(
            registry, "gear_unanswered_searches_dropped", dropped, "reason", DROPPED_TEXTS
        )


class ProcessMetrics:
    """The process: its event loop, its response cache, and that it lives."""

    def __init__(self, registry: CollectorRegistry) -> None:
        lookups = (
            "Response cache lookups by result: hit, stale (the index changed), unknown (no revision in time), miss"
        )
        self.count_cache_lookup = LabelledCounter(registry, "gear_response_cache_requests", lookups, "result")
        text = "Seconds that the event loop was late for a timer: what it did meanwhile kept all requests waiting"
        lag = Histogram("gear_event_loop_lag_seconds", text, registry=registry, buckets=WAIT_BUCKETS)
        self.observe_lag = lag.observe
        Gauge("gear_workers", "Processes that serve", registry=registry, multiprocess_mode="livesum").set(1)


class Metrics:
    """What one process counts, and what it reports: for itself, or for all workers where several serve."""

    def __init__(self, multiprocess_dir: Path | None) -> None:
        self._multiprocess_dir = multiprocess_dir
        self._registry = registry = CollectorRegistry()
        if multiprocess_dir is None:
            ProcessCollector(registry=registry)
        self.requests = RequestMetrics(registry)
        self.limits = LimitMetrics(registry)
        self.engine = EngineMetrics(registry)
        self.store = StoreMetrics(registry)
        self.orders = OrderMetrics(registry)
        text = "Items of writes to the catalogue by result"
        self.count_catalogue_items = LabelledCounter(registry, "gear_catalogue_items", text, "result")
        self.feed = FeedMetrics(registry)
        self.searches = SearchMetrics(registry)
        self.process = ProcessMetrics(registry)

    def registry(self) -> CollectorRegistry:
        """The metrics of this process, or of all workers."""
        if self._multiprocess_dir is None:
            return self._registry
        _remove_gauges_of_ended(self._multiprocess_dir)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=str(self._multiprocess_dir))  # type: ignore[no-untyped-call]  # the library is untyped
        return registry


@asynccontextmanager
async def measured_lag(observe: Callable[[float], None]) -> AsyncIterator[None]:
    """Measures how late the event loop runs what is due: for so long one task has kept all others waiting."""
    task = asyncio.create_task(_measure_lag(observe))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _measure_lag(observe: Callable[[float], None]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LAG_SECONDS
        await asyncio.sleep(LAG_SECONDS)
        observe(max(0.0, loop.time() - due))


def worker_deaths() -> Counter:
    """Counts the workers that ended by themselves, in the process that starts them."""
    text = "Workers that ended unasked and were replaced"
    return Counter("gear_worker_deaths", text, registry=CollectorRegistry())


def _remove_gauges_of_ended(folder: Path) -> None:
    """Removes the live gauges of workers that have ended, however they did; what they counted stays."""
    for pid in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):  # a number is given again, also to another user's process
            mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]  # the library is untyped


def token_labels(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """At most `MAX_TOKENS` counts by token, the greatest ones first, and the sum of the others."""
    ranked = sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in ranked[MAX_TOKENS:])
    return ranked[:MAX_TOKENS] + ([(OTHER_TOKENS, rest)] if rest else [])
