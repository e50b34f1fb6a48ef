"""Headers that a receiver makes up: whatever they are, a callback costs one attempt and no more."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from api.webhooks import schedule
from store.records import Order
from tests.support.api.waiting import until
from tests.support.examples import examples
from tests.support.faults.rough_receiver import HEADER_LINES
from tests.support.orders.desk import Desk, dispatching
from tests.support.services.receiver import Received, Receiver, responses

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@given(HEADER_LINES)
@settings(max_examples=examples(100, 500), deadline=None)
def test_any_retry_after_is_a_delay_or_none(lines: list[str]) -> None:
    for line in lines:
        delay = schedule.parse_retry_after(line.partition(": ")[2], NOW)
        if delay is not None:
            verdict = schedule.verdict("rejected", 500, delay, 0, 0.99)
            assert verdict.delay is not None
            assert timedelta(0) < verdict.delay <= schedule.MAX_RETRY_AFTER * (1 + schedule.JITTER)


@given(st.lists(st.tuples(st.sampled_from([200, 204, 302, 404, 429, 500, 503]), HEADER_LINES), min_size=5, max_size=15))
@settings(max_examples=examples(8, 32), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_headers_cost_one_attempt(desk: Desk, replies: list[tuple[int, list[str]]]) -> None:
    queue: Iterator[tuple[int, list[str]]] = iter(replies)

    async def next_one(received: Received, writer: asyncio.StreamWriter) -> None:
        status, lines = next(queue)
        await responses(status, *lines)(received, writer)

    with Receiver(next_one) as receiver, capture_logs() as logs:
        placed = [await desk.place(receiver.url) for _ in replies]
        async with dispatching(desk.store, delays=()):
            for order in placed:

                async def ended(order: Order = order) -> bool:
                    return await desk.states(order) != ["pending"]

                await until(ended, otherwise=f"the callback of {order.id} has not ended")
    assert [len((await desk.deliveries(order))[0].attempts) for order in placed] == [1] * len(placed)
    assert len(receiver.received) == len(placed)
    assert [line["event"] for line in logs if line["log_level"] == "error"] == []
