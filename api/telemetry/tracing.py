"""Traces by OpenTelemetry, where GEAR_TRACING is set: requests, the engine, the store and callbacks, sent by OTLP/HTTP.

FastAPI makes the spans of requests, `api.telemetry.engine_observer` those of the engine, OpenTelemetry's own
instrumentation those of SQLAlchemy and aiohttp. The SDK reads its settings (`OTEL_…`) from the environment.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from threading import Thread
from typing import TYPE_CHECKING, Final

from fastapi.telemetry import TelemetryConfig
from opentelemetry import trace
from starlette.concurrency import run_in_threadpool

from api.settings import Settings
from store.connection.engine import Store

if TYPE_CHECKING:
    from aiohttp import TraceConfig

# Probes are many and say nothing; the path of a buyer's page is a secret.
UNTRACED: Final = ("/health/", "/metrics", "/orders/")
SEND_SECONDS: Final = 2.0  # for the last spans


def telemetry_of(settings: Settings) -> TelemetryConfig:
    """What FastAPI traces: requests, where tracing is on, and nothing of its own accord."""
    return {
        "tracing": settings.tracing,
        "metrics": False,
        "logs": False,
        "operation_spans": False,
        "auto_configure": False,
        "exclude": lambda scope: str(scope.get("path", "")).startswith(UNTRACED),
    }


@asynccontextmanager
async def exporting(settings: Settings, store: Store) -> AsyncIterator[Sequence["TraceConfig"]]:
    """Exports the spans of this process while the block lasts; yields what the client of callbacks is to be built with.

    Once in a process: what is instrumented is global.
    """
    if not settings.tracing:
        yield ()
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.aiohttp_client import create_trace_config
    from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from api.telemetry.sampling import RequestedWork

    named = Resource.create({"service.version": version("gear")})
    if str(named.attributes["service.name"]).startswith("unknown_service"):
        named = named.merge(Resource({"service.name": "gear-api"}))
    provider = TracerProvider(resource=named, shutdown_on_exit=False)
    provider.sampler = RequestedWork(provider.sampler)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    SQLAlchemyInstrumentor().instrument(engine=store.sync_engine, skip_dep_check=True)
    try:
        # a receiver without its path and query, which may hold secrets
        yield (create_trace_config(url_filter=lambda url: str(url.origin())),)
    finally:
        ending = Thread(target=provider.shutdown, daemon=True)  # sends what is left; a collector may hang
        ending.start()
        await run_in_threadpool(ending.join, SEND_SECONDS)
