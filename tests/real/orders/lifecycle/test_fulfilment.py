"""Fulfilment reads where an item goes, nobody else does, and each read is known."""

from datetime import UTC, datetime, timedelta

import pytest

from store import audit
from tests.support.api.described_examples import EXAMPLES, ORDER_BODIES
from tests.support.orders.shop import Shop, bearer
from tests.support.store.erasing import erase_batch

LONG_AGO = datetime.now(UTC) - timedelta(days=1)


async def reads(shop: Shop) -> list[tuple[str | None, str]]:
    async with shop.store.reading() as connection:
        entries = await audit.entries(connection, LONG_AGO, None, 100)
    return [
        (entry.actor.id if entry.actor else None, entry.subject)
        for entry in entries
        if entry.action == "order.fulfilment"
    ]


async def test_fulfilment_gets_what_was_ordered_with_and_the_read_is_recorded(small_shop: Shop) -> None:
    order = (await small_shop.app.client.post("/v1/gear", json=ORDER_BODIES["all"])).json()["order"]
    token = await small_shop.token("fulfil")
    response = await small_shop.get(f"/v1/orders/{order['id']}/fulfilment", token)
    assert response.status_code == 200
    assert response.json() == EXAMPLES["getFulfilment"]["response"]
    assert response.headers["Cache-Control"] == "no-store"
    ((actor, subject),) = await reads(small_shop)
    assert actor is not None
    assert (actor.startswith("tok_"), subject) == (True, order["id"])


async def test_what_an_order_was_placed_without_is_null(small_shop: Shop) -> None:
    order = await small_shop.placed()
    response = (await small_shop.get(f"/v1/orders/{order['id']}/fulfilment")).json()
    assert response == {
        "status": "success",
        "account": "client-17",
        "email": "buyer@example.com",
        "platformId": None,
        "tradeLink": None,
        "code": None,
        "attribution": None,
    }


@pytest.mark.parametrize("scopes", [("order",), ("search", "metrics")])
async def test_without_the_scope_it_is_refused(small_shop: Shop, scopes: tuple[str, ...]) -> None:
    token = await small_shop.token(*scopes)
    order = (await small_shop.order(token=token if "order" in scopes else None)).json()["order"]
    response = await small_shop.get(f"/v1/orders/{order['id']}/fulfilment", token)
    assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
    assert await reads(small_shop) == []


async def test_an_unknown_order_and_one_of_a_sandbox_are_not_found(small_shop: Shop) -> None:
    trial = await small_shop.token("order", sandbox=True)
    body = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": "-11"}
    hidden = (await small_shop.app.client.post("/v1/gear", json=body, headers=bearer(trial))).json()["order"]["id"]
    for order_id in (hidden, "ord_unknown", "%00"):
        response = await small_shop.get(f"/v1/orders/{order_id}/fulfilment")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "order_not_found")
    assert await reads(small_shop) == []


async def test_erased_data_are_gone(small_shop: Shop) -> None:
    order = await small_shop.placed(account="client-17")
    await small_shop.move(order["id"], "created", "failed")
    async with small_shop.store.transaction() as connection:
        assert await erase_batch(connection, datetime.now(UTC) + timedelta(days=1), 10) == 1
    response = await small_shop.get(f"/v1/orders/{order['id']}/fulfilment")
    assert (response.status_code, response.json()["error"]["code"]) == (410, "personal_data_erased")
    assert await reads(small_shop) == []
