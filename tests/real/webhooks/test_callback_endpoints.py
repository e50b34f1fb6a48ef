"""Registered endpoints, stopped callbacks and the count of those that were given up."""

from datetime import UTC, datetime, timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from store import endpoints
from store.auth import tokens
from store.endpoints import Endpoint
from store.outbox import attempts
from store.records import Order
from tests.support.api.described_examples import ORDER_BODIES
from tests.support.orders.desk import Desk, dispatching
from tests.support.orders.shop import Shop
from tests.support.services.receiver import Receiver, responses


async def register(desk: Desk, url: str) -> Endpoint:
    async with desk.store.transaction() as connection:
        return await endpoints.add(connection, desk.token.token.id, url, exact=False, now=datetime.now(UTC))


async def stop_callbacks(desk: Desk) -> None:
    async with desk.store.transaction() as connection:
        assert await tokens.revoke(connection, desk.token.token.id, datetime.now(UTC), stop_callbacks=True)


async def failed(desk: Desk) -> int:
    async with desk.store.reading() as connection:
        return (await attempts.failed_by_token(connection))[desk.token.token.id]


async def test_each_endpoint_has_its_own_secret(desk: Desk) -> None:
    with Receiver() as first_receiver, Receiver() as second_receiver:
        registered = [
            await register(desk, f"http://127.0.0.1:{receiver.port}/hook")
            for receiver in (first_receiver, second_receiver)
        ]
        async with dispatching(desk.store):
            for receiver in (first_receiver, second_receiver):
                await desk.until(await desk.place(receiver.url), "delivered")
    [first], [second] = first_receiver.received, second_receiver.received
    Webhook(registered[0].secret).verify(first.body, first.headers)
    Webhook(registered[1].secret).verify(second.body, second.headers)
    for wrong in (desk.token.token.webhook_secret, registered[1].secret):
        with pytest.raises(WebhookVerificationError):
            Webhook(wrong).verify(first.body, first.headers)


async def test_a_rotated_endpoint_signs_with_both_secrets_for_a_while(desk: Desk) -> None:
    with Receiver() as receiver:
        old = await register(desk, receiver.url)
        async with desk.store.transaction() as connection:
            secret = await endpoints.rotate(connection, old.id, datetime.now(UTC) + timedelta(hours=1))
        order = await desk.place(receiver.url)
        async with dispatching(desk.store):
            await desk.until(order, "delivered")
        async with dispatching(desk.store, clock=lambda: datetime.now(UTC) + timedelta(hours=2)):
            await desk.until(await desk.move(order, "processing"), "delivered", "delivered")
    during, after = receiver.received
    assert secret is not None
    for valid in (secret, old.secret):
        Webhook(valid).verify(during.body, during.headers)
    assert after.headers["webhook-signature"].count("v1,") == 1


async def test_where_a_token_has_endpoints_nothing_is_sent_elsewhere(desk: Desk) -> None:
    with Receiver() as receiver:
        early: Order = await desk.place(receiver.url)
        endpoint = await register(desk, "https://shop.example.com/hooks")
        async with dispatching(desk.store, delays=(timedelta(milliseconds=50),) * 1000):
            await desk.until_tried(early, 1)
            assert (await desk.outcomes(early))[0] == ("refused", None)
            assert receiver.connections == 0
            async with desk.store.transaction() as connection:
                assert await endpoints.remove(connection, endpoint.id)
            await desk.until(early, "delivered")
    [received] = receiver.received
    Webhook(desk.token.token.webhook_secret).verify(received.body, received.headers)


async def test_an_order_must_name_a_registered_endpoint_where_there_is_one(small_shop: Shop) -> None:
    body = {**ORDER_BODIES["least"], "callbackUrl": "https://shop.example.com/hooks/1"}
    async with small_shop.store.transaction() as connection:
        [token] = await tokens.list_all(connection)
        await endpoints.add(connection, token.id, "https://shop.example.com/other", exact=False, now=datetime.now(UTC))
    refused = await small_shop.app.client.post("/v1/gear", json=body, headers={"Idempotency-Key": "k"})
    assert refused.status_code == 422, refused.text
    error = refused.json()["error"]
    assert (error["code"], error["details"][0]["field"]) == ("validation_failed", "callbackUrl")
    assert (await small_shop.get("/v1/orders")).json()["orders"] == []
    async with small_shop.store.transaction() as connection:
        await endpoints.add(connection, token.id, "https://shop.example.com/hooks", exact=False, now=datetime.now(UTC))
    placed = await small_shop.app.client.post("/v1/gear", json=body, headers={"Idempotency-Key": "k"})
    assert placed.status_code == 201, placed.text


async def test_stopped_callbacks_are_never_sent(desk: Desk) -> None:
    with Receiver(responses(500)) as receiver:
        order = await desk.place(receiver.url)
        async with dispatching(desk.store, delays=(timedelta(milliseconds=300),) * 1000) as dispatcher:
            await desk.until_tried(order, 1)
            await desk.move(order, "processing")
            await stop_callbacks(desk)
            sent = len(receiver.received)
            late = await desk.place(receiver.url)  # by a worker that still knows the token
            dispatcher.worker.wake()
            await desk.until(late, "failed")
            await desk.until(order, "failed", "failed")
            await desk.move(late, "processing")
            assert await desk.replay(order, 1) is not None
            dispatcher.worker.wake()
            await desk.until(late, "failed", "failed")
            await desk.until(order, "failed", "failed")
    assert len(receiver.received) <= sent + 1  # one may have been under way
    assert await failed(desk) == 0


async def test_failed_callbacks_are_counted(desk: Desk) -> None:
    with Receiver(responses(500)) as receiver:
        order = await desk.move(await desk.place(receiver.url), "processing")
        async with dispatching(desk.store, delays=(timedelta(milliseconds=10),)):
            await desk.until(order, "failed", "failed")
    assert await failed(desk) == 2
