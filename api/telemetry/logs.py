"""Structured logs: one JSON object a line on stderr."""

import logging
import sys
from typing import Final

import structlog
from opentelemetry import trace
from structlog.typing import EventDict, WrappedLogger

from api.http.request_id import request_facts


def add_request(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Adds to a line the ids of its request, token and trace, where there are any."""
    span = trace.get_current_span().get_span_context()
    traced = {"traceId": f"{span.trace_id:032x}", "spanId": f"{span.span_id:016x}"} if span.is_valid else {}
    return {**request_facts(), **traced, **event}


_SHARED: Final[list[structlog.typing.Processor]] = [
    add_request,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]
_PROCESSORS: Final[list[structlog.typing.Processor]] = [*_SHARED, structlog.processors.JSONRenderer()]
"""One list however often logs are configured: a logger keeps the one that it met first."""


def configure() -> None:
    """Writes our events and the warnings of libraries to stderr as JSON."""
    structlog.configure(
        processors=_PROCESSORS,
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    # we log what it warns of, with the request's id and without the engine's address
    logging.getLogger("opensearch").setLevel(logging.ERROR)
