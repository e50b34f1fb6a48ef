"""Traces of a real process, received by OTLP/HTTP: one request can be followed through engine, store and callback."""

import json
import signal
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.api.catalogue import PRICED, loaded
from tests.support.api.waiting import until
from tests.support.app import ALL_SCOPES, new_token
from tests.support.orders.processes import worker
from tests.support.services.processes import gear_api
from tests.support.services.receiver import Receiver
from tests.support.store.migrated import migrated

TRACE = "0af7651916cd43dd8448eb211c80319c"
EMAIL = "traced.buyer@example.com"


def attributes_of(span: Span) -> dict[str, Any]:
    """The attributes of a span."""
    return {attribute.key: attribute.value.string_value or attribute.value.int_value for attribute in span.attributes}


def spans_of(collector: Receiver) -> list[Span]:
    """All spans that were exported."""
    exports = [ExportTraceServiceRequest.FromString(request.body) for request in collector.received]
    return [
        span
        for export in exports
        for part in export.resource_spans
        for scope in part.scope_spans
        for span in scope.spans
    ]


async def test_a_request_is_followed_through_all_parts(opensearch_url: str, tmp_path: Path) -> None:
    with loaded(opensearch_url, tmp_path) as settings, Receiver() as collector, Receiver() as receiver:
        await migrated(settings.database_url)
        token = await new_token(settings.database_url, *ALL_SCOPES)
        variables = {
            "GEAR_TRACING": "true",
            "GEAR_ALLOW_INSECURE_CALLBACKS": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "50",
        }
        async with worker(settings, tmp_path, token, program=gear_api, **variables) as started:
            headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
            searched = await started.client.post("/v1/gear/search", json={"query": "redline traced"}, headers=headers)
            order = {"account": "a", "email": EMAIL, "platform": "cs2", "item": str(PRICED)}
            order["callbackUrl"] = f"http://127.0.0.1:{receiver.port}/secret-path?key=secret"
            placed = (await started.client.post("/v1/gear", json=order)).raise_for_status().json()["order"]
            page = placed["statusUrl"].rpartition("/orders/")[2]
            (await started.client.get(f"/orders/{page}")).raise_for_status()
            await until(lambda: bool(receiver.received))
            await started.client.post(f"/v1/orders/{placed['id']}/transitions", json={"to": "cancelled"})
            started.process.send_signal(signal.SIGTERM)  # what is left is sent before it ends
            await started.process.wait()
        lines = started.process.written.read_text(encoding="utf-8").splitlines()

    spans = spans_of(collector)
    traced = [span for span in spans if span.trace_id.hex() == TRACE]
    (server,) = [span for span in traced if span.kind == Span.SPAN_KIND_SERVER]
    assert attributes_of(server)["http.route"] == "/v1/gear/search"
    assert attributes_of(server)["gear.request_id"] == searched.headers["X-Request-Id"]
    engine = [span for span in traced if span.name in ("opensearch search", "opensearch msearch")]
    assert engine
    assert {attributes_of(span)["opensearch.x_opaque_id"] for span in engine} == {searched.headers["X-Request-Id"]}
    assert {span.span_id for span in traced} >= {span.parent_span_id for span in engine}

    ordered = next(span for span in spans if attributes_of(span).get("http.route") == "/v1/gear")
    statements = [span for span in spans if span.trace_id == ordered.trace_id and "db.statement" in attributes_of(span)]
    assert any("INSERT INTO orders" in attributes_of(span)["db.statement"] for span in statements)
    (sent, *_) = receiver.received
    callback = next(span for span in spans if span.kind == Span.SPAN_KIND_CLIENT and span.name == "POST")
    assert sent.headers["traceparent"].split("-")[1:3] == [callback.trace_id.hex(), callback.span_id.hex()]

    (line,) = [json.loads(line) for line in lines if searched.headers["X-Request-Id"] in line]
    assert (line["traceId"], line["event"], line["token"][:4]) == (TRACE, "request", "tok_")
    exported = b"".join(request.body for request in collector.received).decode("latin-1")
    for secret in (EMAIL, token, page, "secret-path", "key=secret"):
        assert secret not in exported
    roots = {span.name for span in spans if not span.parent_span_id}
    assert not [name for name in roots if "opensearch" in name or "SELECT" in name], "what workers poll for"
