"""Metrics for Prometheus: requests of the processes, and the backlogs in the store."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.process_collector import ProcessCollector

from api.auth import MetricsToken
from api.backlogs import backlog_metrics
from api.http.openapi import text_answers
from api.http.query_params import only_query
from api.services import Services, services_of
from api.settings import Settings

router = APIRouter(tags=["metrics"])
# from a cached search to twice the engine's default deadline
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
QUEUE_BUCKETS = (0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
NO_ROUTE = "none"
EXAMPLE = 'gear_requests_total{method="POST",route="/v1/gear/search",status="200"} 41.0\n'


class RequestMetrics:
    """Counts the requests of one process, or of all workers where several serve."""

    def __init__(self, settings: Settings) -> None:
        self._multiprocess_dir = settings.prometheus_multiproc_dir
        self._registry = CollectorRegistry()
        if self._multiprocess_dir is None:
            ProcessCollector(registry=self._registry)
        requests = Counter("gear_requests", "Requests answered", ("method", "route", "status"), registry=self._registry)
        seconds = Histogram(
            "gear_request_seconds",
            "Seconds from a request's head to the end of its response",
            ("method", "route"),
            registry=self._registry,
            buckets=BUCKETS,
        )
        lookups = Counter(
            "gear_response_cache_requests",
            "Response cache lookups by result: hit, stale (the index changed), unknown (no revision in time), miss",
            ("result",),
            registry=self._registry,
        )
        self._refused_items = Counter(
            "gear_order_refused_items",
            "Orders refused for what the index has of their item, by reason: price, digest, age, unknown",
            ("reason",),
            registry=self._registry,
        )
        self._ejected_nodes = Gauge(
            "gear_engine_nodes_ejected",
            "Nodes of the engine that get no requests because they did not answer",
            registry=self._registry,
            multiprocess_mode="livemax",
        )
        self._rate_limit_storage_failures = Counter(
            "gear_rate_limit_storage_failures",
            "Times that the shared storage of rate limits did not answer, and this process counted alone",
            registry=self._registry,
        )
        live: dict[str, Any] = {"registry": self._registry, "multiprocess_mode": "livesum"}
        in_flight = Gauge("gear_requests_in_flight", "Requests at work", ("budget",), **live)
        limit = Gauge("gear_concurrency_limit", "How many requests may be at work", ("budget",), **live)
        waits = Histogram(
            "gear_queue_seconds",
            "Seconds that requests waited for their budget",
            ("budget",),
            registry=self._registry,
            buckets=QUEUE_BUCKETS,
        )
        self._shed = Counter(
            "gear_requests_shed", "Requests refused with 503 `overloaded`", ("budget",), registry=self._registry
        )
        # looking up a child by its labels takes longer than counting
        self._in_flight_of = cache(in_flight.labels)
        self._limit_of = cache(limit.labels)
        self._waits_of = cache(waits.labels)
        self._lookups_of = cache(lookups.labels)
        self._requests_of = cache(requests.labels)
        self._seconds_of = cache(seconds.labels)

    def set_ejected_nodes(self, count: int) -> None:
        """Notes how many nodes of the engine are left out now."""
        self._ejected_nodes.set(count)

    def count_rate_limit_storage_failure(self) -> None:
        """Counts a failure of the shared storage of rate limits."""
        self._rate_limit_storage_failures.inc()

    def count_refused_item(self, reason: str) -> None:
        """Counts an order refused for what the index has of its item."""
        self._refused_items.labels(reason).inc()

    def set_in_flight(self, budget: str, requests: int) -> None:
        """Reports how many requests of a budget are at work."""
        self._in_flight_of(budget).set(requests)

    def set_limit(self, budget: str, limit: int) -> None:
        """Reports how many requests of a budget may be at work."""
        self._limit_of(budget).set(limit)

    def count_wait(self, budget: str, seconds: float) -> None:
        """Counts a request that waited for its budget."""
        self._waits_of(budget).observe(seconds)

    def count_shed(self, budget: str) -> None:
        """Counts a request that was refused."""
        self._shed.labels(budget).inc()

    def count_cache_lookup(self, result: str) -> None:
        """Counts a lookup in the response cache."""
        self._lookups_of(result).inc()

    def count_response(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Counts a request. Those without a route share one label, so that no client can invent labels."""
        if route is None:
            method, route = NO_ROUTE, NO_ROUTE
        self._requests_of(method, route, status).inc()
        self._seconds_of(method, route).observe(seconds)

    def registry(self) -> CollectorRegistry:
        """The metrics of this process, or of all workers."""
        if self._multiprocess_dir is None:
            return self._registry
        _remove_gauges_of_ended(self._multiprocess_dir)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=str(self._multiprocess_dir))  # type: ignore[no-untyped-call]  # the library is untyped
        return registry


def _remove_gauges_of_ended(folder: Path) -> None:
    """Removes the live gauges of workers that have ended, however they did; what they counted stays."""
    for pid in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]  # the library is untyped


class _Joined(CollectorRegistry):
    """The metrics of a registry and some more."""

    def __init__(self, registry: CollectorRegistry, metrics: Sequence[Metric]) -> None:
        super().__init__()
        self._joined = registry
        self._more = metrics

    def collect(self) -> Iterator[Metric]:
        """All of them."""
        yield from self._joined.collect()
        yield from self._more


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses=text_answers(
        EXAMPLE, "unauthorized", "forbidden", "validation_failed", "rate_limited", "store_unavailable"
    ),
)
async def metrics(
    request: Request,
    token: MetricsToken,
    _: Annotated[None, Depends(only_query())],
    services: Annotated[Services, Depends(services_of)],
) -> Response:
    """Requests by route and status, their times and the backlogs in the store, in the format that `Accept` names.

    Without the store, the backlogs are absent and `gear_store_up` is 0.
    """
    requests: RequestMetrics = request.app.state.metrics
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    backlogs, state = await asyncio.gather(services.backlogs.read(), services.readiness.check())
    more = [*backlog_metrics(backlogs), state.metrics()]
    # in a thread: it reads the files of all workers
    text = await asyncio.to_thread(lambda: encode(_Joined(requests.registry(), more)))
    return Response(text, media_type=content_type)
