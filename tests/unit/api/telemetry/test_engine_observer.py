"""The engine's requests are named by the request that they are for, and counted by what became of them."""

from functools import partial

import pytest
from starlette.types import Message, Receive, Scope, Send

from api.engine.client import Engine
from api.errors import ApiError
from api.http.request_id import RequestIdMiddleware
from api.telemetry.engine_observer import observed
from api.telemetry.metrics import Metrics
from mappings.connection import SearchSettings
from tests.support.node.small_nodes import SmallNode, small_node


def engine_at(node: SmallNode, metrics: Metrics) -> Engine:
    settings = SearchSettings(_env_file=None, opensearch_url=node.url)
    return Engine(settings, 0.2, observer=partial(observed, "search", metrics.engine))


async def test_the_engine_gets_the_id_of_the_request() -> None:
    metrics = Metrics(None)
    async with small_node() as node:
        engine = engine_at(node, metrics)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await engine.revision([])

        async def receive() -> Message:
            return {}

        async def send(message: Message) -> None:
            del message

        scope = {"type": "http", "method": "GET", "headers": [(b"x-request-id", b"id-1")], "client": None}
        await RequestIdMiddleware(app, lambda *_: None)(scope, receive, send)
        await engine.revision([])
        await engine.close()
    assert ["x-opaque-id: id-1" in head for head in node.heads] == [True, False]
    labels = {"operation": "stats", "outcome": "ok"}
    assert metrics.registry().get_sample_value("gear_engine_request_duration_seconds_count", labels) == 2
    assert metrics.registry().get_sample_value("gear_engine_pool_wait_seconds_count", {"pool": "search"}) == 2


async def test_what_is_not_answered_is_counted_so() -> None:
    metrics = Metrics(None)
    async with small_node() as node:
        engine = engine_at(node, metrics)
        node.hang()
        with pytest.raises(ApiError):
            await engine.revision([])
        await engine.close()
    labels = {"operation": "stats", "outcome": "unanswered"}
    assert metrics.registry().get_sample_value("gear_engine_request_duration_seconds_count", labels) == 1
