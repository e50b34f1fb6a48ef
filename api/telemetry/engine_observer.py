"""Observes requests to the engine: their metrics, their spans, and the id by which the engine's own logs name them."""

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final, Self

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from api.http.request_id import current_request_id
from api.telemetry.metrics import EngineMetrics

NOT_FOUND: Final = 404  # an answer like others
_tracer = trace.get_tracer("gear.engine")


class Exchange:
    """One request; `headers` names it in the engine's tasks and slow logs."""

    def __init__(self, observer: "EngineObserver", operation: str, node: str) -> None:
        self._observer = observer
        self._operation = operation
        self._node = node
        self._request_id = current_request_id()
        self._scope: AbstractContextManager[Span] | None = None
        self._outcome = "unanswered"
        self._waited: float | None = None
        self._began = 0.0
        self.headers: Mapping[str, str] = {} if self._request_id is None else {"x-opaque-id": self._request_id}

    def __enter__(self) -> Self:
        if self._observer.traced:
            self._scope = _tracer.start_as_current_span(
                f"opensearch {self._operation}",
                kind=SpanKind.CLIENT,
                attributes={
                    "db.system.name": "opensearch",
                    "db.operation.name": self._operation,
                    "server.address": self._node,
                    "opensearch.x_opaque_id": self._request_id or "",
                },
                record_exception=False,
                set_status_on_exception=False,
            )
            self._scope.__enter__()
        self._began = time.perf_counter()
        return self

    def answered(self, status: int, waited: float) -> None:
        """Notes the response."""
        self._waited = waited
        self._outcome = "ok" if status < 400 or status == NOT_FOUND else "error"
        if self._scope is not None:
            trace.get_current_span().set_attribute("http.response.status_code", status)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        metrics, seconds = self._observer.metrics, time.perf_counter() - self._began
        metrics.count_request(self._operation, self._outcome, seconds - (self._waited or 0.0))
        if self._waited is not None:
            metrics.count_wait(self._observer.pool, self._waited)
        if self._scope is not None:
            if self._outcome != "ok":
                trace.get_current_span().set_status(Status(StatusCode.ERROR, self._outcome))
            self._scope.__exit__(kind, error, at)


class EngineObserver:
    """Observes the requests of one pool of connections; spans cost 40 microseconds each, also where nobody exports."""

    def __init__(self, pool: str, metrics: EngineMetrics, *, traced: bool = False) -> None:
        self.pool = pool
        self.metrics = metrics
        self.traced = traced

    def observed(self, operation: str, node: str) -> Exchange:
        """Surrounds a request."""
        return Exchange(self, operation, node)
