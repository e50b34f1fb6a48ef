"""Which spans begin a trace: requests and callbacks, and not what workers poll for."""

from collections.abc import Sequence

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes


class RequestedWork(Sampler):
    """Samples as another sampler does, but drops calls of a database or the engine that belong to no trace."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        """Called by the SDK for each span."""
        is_root = not trace.get_current_span(parent_context).get_span_context().is_valid
        is_http = any(key.startswith("http.") for key in attributes or ())
        if is_root and kind is SpanKind.CLIENT and not is_http:
            return SamplingResult(Decision.DROP)
        return self._sampler.should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)

    def get_description(self) -> str:
        return f"RequestedWork{{{self._sampler.get_description()}}}"
