"""Callbacks: the client hears of every change of its order, soon, signed, in order and at least once."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from structlog.testing import capture_logs

from store.auth import tokens
from store.orders import orders
from tests.support.api.waiting import until
from tests.support.orders.desk import Desk, dispatching, order_with_callback
from tests.support.services.receiver import Receiver, responses

EVENTS = ["order.created", "order.processing", "order.delivered", "order.completed"]


async def test_every_change_is_sent_in_order_as_it_was_then(desk: Desk) -> None:
    with Receiver() as receiver:
        order = await desk.move(await desk.place(receiver.url), "processing", "delivered", "completed")
        async with dispatching(desk.store):
            await desk.until(order, *["delivered"] * 4)
    assert receiver.events == EVENTS
    assert len(set(receiver.ids)) == 4
    for event, received in zip(EVENTS, receiver.received, strict=True):
        body = json.loads(received.body)
        assert set(body) == {"type", "timestamp", "data"}
        assert body["data"]["order"]["id"] == order.id
        assert body["data"]["order"]["state"] == event.removeprefix("order.")
        assert body["data"]["order"]["updatedAt"] == body["timestamp"]
        assert received.target == "/hook?key=secret-of-the-query"
        assert received.headers["content-type"] == "application/json"
        assert received.headers["host"] == f"127.0.0.1:{receiver.port}"
        assert "cookie" not in received.headers
    assert [delivery.event for delivery in await desk.deliveries(order)] == EVENTS


async def test_the_reference_library_verifies_what_is_sent(desk: Desk) -> None:
    with Receiver() as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "delivered")
    [received] = receiver.received
    verified = Webhook(desk.token.token.webhook_secret).verify(received.body, received.headers)
    assert verified["data"]["order"]["id"] == order.id
    with pytest.raises(WebhookVerificationError):
        Webhook(desk.token.token.webhook_secret).verify(received.body + b" ", received.headers)


async def test_an_order_without_an_address_has_no_callbacks(desk: Desk) -> None:
    order = await desk.move(await desk.place(None), "processing")
    assert await desk.deliveries(order) == []
    assert await desk.backlog() == 0


async def test_what_is_rolled_back_is_never_sent(desk: Desk) -> None:
    with Receiver() as receiver:

        async def roll_back() -> None:
            async with desk.store.transaction() as connection:
                await orders.place(
                    connection, order_with_callback(desk.token.token.id, receiver.url), datetime.now(UTC)
                )
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await roll_back()
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "delivered")
        assert len(receiver.received) == 1


async def test_a_failed_attempt_is_made_again_with_the_same_id(desk: Desk) -> None:
    with Receiver(responses(500)) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until_tried(order, 1)
            receiver.behaviour = responses(204)
            await desk.until(order, "delivered")
    assert len(set(receiver.ids)) == 1
    outcomes = await desk.outcomes(order)
    assert outcomes[0] == ("rejected", 500)
    assert outcomes[-1] == ("delivered", 204)


async def test_the_schedule_ends_as_failed_and_lets_the_next_event_through(desk: Desk) -> None:
    with Receiver(responses(500)) as receiver:
        order = await desk.move(await desk.place(receiver.url), "processing")
        async with dispatching(desk.store):
            await desk.until(order, "failed", "failed")
    assert receiver.events == ["order.created"] * 4 + ["order.processing"] * 4
    assert [delivery.next_attempt_at for delivery in await desk.deliveries(order)] == [None, None]


async def test_an_event_waits_until_the_one_before_it_is_delivered(desk: Desk) -> None:
    with Receiver(responses(503)) as receiver:
        order = await desk.move(await desk.place(receiver.url), "processing")
        async with dispatching(desk.store, delays=(timedelta(milliseconds=50),) * 1000):
            await desk.until_tried(order, 3)
            assert set(receiver.events) == {"order.created"}
            first, second = await desk.deliveries(order)
            assert first.next_attempt_at is not None
            assert (second.state, second.next_attempt_at, second.attempts) == ("pending", None, [])
            order = await desk.move(order, "delivered")
            receiver.behaviour = responses(200)
            await desk.until(order, "delivered", "delivered", "delivered")
    assert receiver.events[-3:] == EVENTS[:3]


async def test_410_ends_a_callback_at_once(desk: Desk) -> None:
    with Receiver(responses(410)) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "failed")
    assert await desk.outcomes(order) == [("rejected", 410)]


async def test_retry_after_is_waited_for(desk: Desk) -> None:
    with Receiver(responses(429, "Retry-After: 3600")) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until_tried(order, 1)
        [delivery] = await desk.deliveries(order)
    assert delivery.next_attempt_at is not None
    assert timedelta(minutes=59) < delivery.next_attempt_at - datetime.now(UTC) < timedelta(minutes=73)


async def test_a_redirect_is_a_failure_and_not_followed(desk: Desk) -> None:
    with Receiver() as elsewhere, Receiver() as receiver:
        receiver.behaviour = responses(307, f"Location: {elsewhere.url}")
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "failed")
        assert elsewhere.connections == 0
    assert set(await desk.outcomes(order)) == {("rejected", 307)}


async def test_during_a_rotation_both_secrets_verify(desk: Desk) -> None:
    old = desk.token.token.webhook_secret
    async with desk.store.transaction() as connection:
        rotated = await tokens.rotate_webhook_secret(connection, "shop", datetime.now(UTC) + timedelta(hours=24))
    assert rotated is not None
    with Receiver() as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "delivered")
            async with desk.store.transaction() as connection:
                newest = await tokens.rotate_webhook_secret(connection, desk.token.token.id, None)
            order = await desk.move(order, "processing")
            await desk.until(order, "delivered", "delivered")
    assert newest is not None
    during, after = receiver.received
    for secret in (old, rotated[1]):
        Webhook(secret).verify(during.body, during.headers)
    Webhook(newest[1]).verify(after.body, after.headers)
    for secret in (old, rotated[1]):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(after.body, after.headers)


async def test_an_old_secret_stops_signing_when_its_time_is_over(desk: Desk) -> None:
    async with desk.store.transaction() as connection:
        assert await tokens.rotate_webhook_secret(connection, "shop", datetime.now(UTC) + timedelta(hours=1))
    with Receiver() as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store, clock=lambda: datetime.now(UTC) + timedelta(hours=2)):
            await desk.until(order, "delivered")
    assert receiver.received[0].headers["webhook-signature"].count("v1,") == 1


async def test_a_replay_sends_the_same_event_again(desk: Desk) -> None:
    with Receiver(responses(500)) as receiver:
        order = await desk.move(await desk.place(receiver.url), "processing")
        async with dispatching(desk.store) as dispatcher:
            await desk.until(order, "failed", "failed")
            receiver.received.clear()
            receiver.behaviour = responses(200)
            for n in (1, 2):
                replayed = await desk.replay(order, n)
                assert replayed is not None
                assert replayed.state == "pending"
            dispatcher.worker.wake()
            await desk.until(order, "delivered", "delivered")
            assert await desk.replay(order, 2) is not None  # what was delivered may be asked for again too
            dispatcher.worker.wake()
            await until_received(receiver, 3)
            assert await desk.replay(order, 3) is None
    assert receiver.events == ["order.created", "order.processing", "order.processing"]
    assert receiver.ids[1] == receiver.ids[2]
    created, _ = await desk.deliveries(order)
    assert [attempt.outcome for attempt in created.attempts] == ["rejected"] * 4 + ["delivered"]


async def test_each_attempt_is_a_log_line_without_secrets_or_bodies(desk: Desk) -> None:
    with (
        Receiver(responses(500, "X-Token: receivers-secret", body=b"receivers-secret")) as receiver,
        capture_logs() as logs,
    ):
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "failed")
        lines = [line for line in logs if line["event"] == "callback"]
    assert len(lines) == 4
    assert lines[0]["outcome"] == "rejected"
    assert lines[0]["receiver"] == f"127.0.0.1:{receiver.port}"
    assert lines[-1]["state"] == "failed"
    for secret in ("secret-of-the-query", "/hook", "receivers-secret", "buyer@example.com", "whsec_", "v1,"):
        assert secret not in str(logs) + str(await desk.deliveries(order))


async def until_received(receiver: Receiver, times: int) -> None:
    await until(lambda: len(receiver.received) >= times, otherwise=f"only {len(receiver.received)} callbacks came")
