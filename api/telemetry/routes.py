"""`GET /metrics`: what the processes count, what waits in the store, and what the engine serves."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder

from api.auth import MetricsToken
from api.background.coalescing import SingleFlight
from api.background.tasks import BackgroundTasks
from api.engine.client import Engine
from api.errors import ApiError
from api.http.dependencies import NoQuery, service
from api.http.openapi import TOKEN_ERRORS, responses
from api.readiness import Readiness
from api.telemetry.backlogs import BacklogReader, backlog_metrics
from api.telemetry.metrics import Metrics
from mappings.platforms import Platforms

router = APIRouter(tags=["metrics"])
EXAMPLE = 'gear_http_requests_total{method="POST",route="/v1/gear/search",code="200"} 41.0\n'
ENGINE_SECONDS: Final = 1.0  # a scrape waits no longer for the engine


class GenerationReader:
    """Reads the serving generations in the background, once for all scrapes of a moment."""

    def __init__(self, engine: Engine, platforms: Platforms, tasks: BackgroundTasks) -> None:
        self._reading = SingleFlight(tasks, partial(engine.generations, list(platforms)))

    async def metrics(self) -> list[Metric]:
        """The generations; none where the engine does not answer in time."""
        serving = await self._reading.result(ENGINE_SECONDS, ApiError)
        if serving is None:
            return []
        text = "The index that serves a platform, and the fingerprint of its definition"
        info = GaugeMetricFamily("gear_index_info", text, labels=["platform", "index", "fingerprint"])
        text = "When the load of the serving index began"
        created = GaugeMetricFamily("gear_index_created_timestamp_seconds", text, labels=["platform"])
        for platform, generation in sorted(serving.items()):
            info.add_metric([str(platform), generation.index, generation.fingerprint], 1)
            created.add_metric([str(platform)], generation.created_at.timestamp())
        return [info, created]


@dataclass(frozen=True)
class TelemetryServices:
    metrics: Metrics
    backlogs: BacklogReader
    readiness: Readiness
    generations: GenerationReader


TelemetryDependency = Annotated[TelemetryServices, Depends(service(TelemetryServices))]


class _Joined(CollectorRegistry):
    """The metrics of a registry and some more."""

    def __init__(self, registry: CollectorRegistry, metrics: Sequence[Metric]) -> None:
        super().__init__()
        self._joined = registry
        self._more = metrics

    def collect(self) -> Iterator[Metric]:
        yield from self._joined.collect()
        yield from self._more


def _build_info() -> Metric:
    info = GaugeMetricFamily("gear_build_info", "The version that answers", labels=["version"])
    info.add_metric([version("gear")], 1)
    return info


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses=responses(None, *TOKEN_ERRORS, texts={"text/plain": EXAMPLE}),
)
async def get_metrics(request: Request, token: MetricsToken, _: NoQuery, services: TelemetryDependency) -> Response:
    """Requests by route and code, their times and the engine's, the backlogs in the store and the index that serves, in
    the format that `Accept` names.

    Without the store the backlogs are absent and `gear_store_up` is 0; without the engine the index is absent.
    """
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    backlogs, state, generations = await asyncio.gather(
        services.backlogs.read(), services.readiness.check(), services.generations.metrics()
    )
    more = [_build_info(), *backlog_metrics(backlogs), state.metrics(), *generations]
    # in a thread: it reads the files of all workers
    text = await asyncio.to_thread(lambda: encode(_Joined(services.metrics.registry(), more)))
    return Response(text, media_type=content_type)
