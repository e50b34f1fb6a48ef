"""Metrics for Prometheus: requests of the processes, and the backlogs in the store."""

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector

from api.auth import MetricsToken
from api.http.openapi import text_answers
from api.http.query_params import only_query
from api.services import Services, services_of
from api.settings import Settings
from store.outbox import deliveries, index_outbox

router = APIRouter(tags=["metrics"])
# from a cached search to twice the engine's default deadline
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
NO_ROUTE = "none"
EXAMPLE = 'gear_requests_total{method="POST",route="/v1/gear/search",status="200"} 41.0\n'


class RequestMetrics:
    """Counts the requests of one process, or of all workers where several serve."""

    def __init__(self, settings: Settings) -> None:
        self._multiprocess_dir = settings.prometheus_multiproc_dir
        self._registry = CollectorRegistry()
        if self._multiprocess_dir is None:
            ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "gear_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "gear_request_seconds",
            "Seconds from a request's head to the end of its response",
            ("method", "route"),
            registry=self._registry,
            buckets=BUCKETS,
        )
        self._cache_lookups = Counter(
            "gear_response_cache_requests",
            "Response cache lookups by result: hit, stale (the index changed), unknown (no revision in time), miss",
            ("result",),
            registry=self._registry,
        )

    def count_cache_lookup(self, result: str) -> None:
        """Counts a lookup in the response cache."""
        self._cache_lookups.labels(result).inc()

    def count_response(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """Counts a request. Those without a route share one label, so that no client can invent labels."""
        if route is None:
            method, route = NO_ROUTE, NO_ROUTE
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def registry(self) -> CollectorRegistry:
        """The metrics of this process, or of all workers."""
        if self._multiprocess_dir is None:
            return self._registry
        registry = CollectorRegistry()
        MultiProcessCollector(registry, path=str(self._multiprocess_dir))  # type: ignore[no-untyped-call]  # the library is untyped
        return registry


async def backlogs(services: Services) -> CollectorRegistry:
    """The backlogs in the store, of all processes that share it; raises StoreUnavailable."""
    registry = CollectorRegistry()
    pending = Gauge(
        "gear_index_sync_pending", "Ordered or released items not yet published to the index", registry=registry
    )
    overdue = Gauge(
        "gear_callbacks_overdue",
        "Callbacks due and not delivered, without those that wait for a retry",
        registry=registry,
    )
    overdue_seconds = Gauge(
        "gear_callbacks_overdue_seconds", "Seconds since the oldest of them is due", registry=registry
    )
    async with services.store.reading() as connection:
        pending.set(await index_outbox.count_pending(connection))
        now = datetime.now(UTC)
        count, oldest = await deliveries.overdue(connection, now)
    overdue.set(count)
    overdue_seconds.set(0 if oldest is None else max(0.0, (now - oldest).total_seconds()))
    return registry


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
    """Requests by route and status, their times and the backlogs in the store, in the format that `Accept` names."""
    requests: RequestMetrics = request.app.state.metrics
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    stored = await backlogs(services)
    # in a thread: it reads the files of all workers
    text = await asyncio.to_thread(lambda: _joined(encode(requests.registry()), encode(stored)))
    return Response(text, media_type=content_type)


def _joined(first: bytes, second: bytes) -> bytes:
    """Joins two exposed registries: OpenMetrics allows one end mark."""
    return first.removesuffix(b"# EOF\n") + second
