"""Metrics: what requests did and what waits in the store in, the text that Prometheus reads out."""

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
from api.search.response_cache import Met
from api.services import Services, services_of
from api.settings import Settings
from store.outbox import deliveries, index_outbox

router = APIRouter(tags=["metrics"])
# From what a cached search takes to the engine's default deadline and twice that.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
NO_ROUTE = "none"
EXAMPLE = 'gear_requests_total{method="POST",route="/v1/gear/search",status="200"} 41.0\n'


class Meter:
    """Counts the requests of one process, of all workers together where several serve."""

    def __init__(self, settings: Settings) -> None:
        self._shared = settings.prometheus_multiproc_dir
        self._registry = CollectorRegistry()
        if self._shared is None:
            ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "gear_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "gear_request_seconds",
            "Seconds from a request's head to the end of its answer",
            ("method", "route"),
            registry=self._registry,
            buckets=SECONDS,
        )

        self._kept = Counter(
            "gear_kept_answers",
            "Searches and suggestions by the kept answer that they met: held, changed, untold whether it holds, none",
            ("met",),
            registry=self._registry,
        )

    def looked_up(self, met: Met) -> None:
        """One search or suggestion was looked for among what is kept."""
        self._kept.labels(met).inc()

    def answered(self, method: str, route: str | None, status: int, seconds: float) -> None:
        """One request more; what no route took is counted as one, so that no client can make up labels."""
        if route is None:
            method, route = NO_ROUTE, NO_ROUTE
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(method, route).observe(seconds)

    def registry(self) -> CollectorRegistry:
        """What is to be shown: this process's numbers, or those of all workers."""
        if self._shared is None:
            return self._registry
        together = CollectorRegistry()
        MultiProcessCollector(together, path=str(self._shared))  # type: ignore[no-untyped-call]  # as the library has it
        return together


async def waiting(services: Services) -> CollectorRegistry:
    """What waits in the store, for all processes that share it; raises StoreUnavailable."""
    registry = CollectorRegistry()
    behind = Gauge(
        "gear_masks_behind", "Ordered or released items that the index was not told of yet", registry=registry
    )
    meaning = "Callbacks that are due and not delivered yet; those that wait for a retry are not"
    overdue = Gauge("gear_callbacks_overdue", meaning, registry=registry)
    meaning = "Seconds since the oldest of them is due"
    overdue_seconds = Gauge("gear_callbacks_overdue_seconds", meaning, registry=registry)
    async with services.store.reading() as connection:
        behind.set(await index_outbox.count_pending(connection))
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
    """Requests by route and status, their times, and what waits in the store, in the format that is asked for."""
    meter: Meter = request.app.state.meter
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    stored = await waiting(services)
    # reading the files of many workers is no work for the loop
    text = await asyncio.to_thread(lambda: _joined(encode(meter.registry()), encode(stored)))
    return Response(text, media_type=content_type)


def _joined(first: bytes, second: bytes) -> bytes:
    """Two exposed registries as one: only the last may say that it ends there."""
    return first.removesuffix(b"# EOF\n") + second
