"""Placing: one item goes to one buyer, for the price that was shown, and the order comes back as it was placed."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from api.settings import Settings
from store.bound_items import bound_items
from store.orders import orders
from tests.support.api.described_examples import ORDER_BODIES
from tests.support.api.envelope import error_of
from tests.support.golden import Golden
from tests.support.orders.calls import send_until_answered
from tests.support.orders.shop import FREE, KNIFE, LARGEST, NEGATIVE, Shop, opened


def without_secrets(order: dict[str, Any]) -> dict[str, Any]:
    """The order with what differs each time replaced by its form."""
    forms = {
        "id": r"ord_[A-Za-z0-9_-]{24}",
        "createdAt": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
        "updatedAt": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
        "statusUrl": r"http://gear\.test/orders/[A-Za-z0-9_-]{32}",
    }
    for key, form in forms.items():
        assert re.fullmatch(form, order[key]), order[key]
    return {**order, **forms}


@pytest.mark.parametrize("body", list(ORDER_BODIES))
async def test_the_answer_has_exactly_the_fields_of_the_contract(small_shop: Shop, golden: Golden, body: str) -> None:
    response = await small_shop.app.client.post("/v1/gear", json=ORDER_BODIES[body])
    assert response.status_code == 201, response.text
    assert response.headers["Content-Type"] == "application/json"
    order = response.json()["order"]
    assert response.headers["Location"] == f"/v1/orders/{order['id']}"
    golden(f"orders/placed_{body}", {**response.json(), "order": without_secrets(order)})


async def test_the_order_is_found_where_location_says_with_its_history(small_shop: Shop) -> None:
    placed = await small_shop.order()
    response = await small_shop.get(placed.headers["Location"])
    order = placed.json()["order"]
    history = [{"state": "created", "at": order["createdAt"], "reason": None}]
    assert response.status_code == 200
    assert response.json() == {"status": "success", "order": {**order, "history": history}}
    await small_shop.move(order["id"], "created", "processing", "delivered")
    moved = (await small_shop.get(placed.headers["Location"])).json()["order"]
    assert moved["state"] == "delivered"
    assert [(event["state"], event["reason"]) for event in moved["history"]] == [
        ("created", None),
        ("processing", "now processing"),
        ("delivered", "now delivered"),
    ]
    assert moved["updatedAt"] == moved["history"][-1]["at"]


async def test_everything_that_was_sent_is_preserved(shop: Shop) -> None:
    sent = ORDER_BODIES["all"]
    order = (await shop.app.client.post("/v1/gear", json=sent)).json()["order"]
    async with shop.store.reading() as connection:
        stored = await orders.get(connection, order["id"])
    assert stored is not None
    assert (stored.account, stored.email, stored.code) == (sent["account"], sent["email"], sent["code"])
    assert (stored.platform_user_id, stored.trade_link) == tuple(sent["additionalFields"].values())
    assert (stored.utm_source, stored.utm_medium) == tuple(sent["attribution"].values())
    assert [stored.success_url, stored.failure_url, stored.callback_url] == [
        sent[field] for field in ("successUrl", "failureUrl", "callbackUrl")
    ]
    assert stored.item_name == "AK-47 | Redline (Field-Tested)"
    assert stored.item_image == "https://example.com/ak47-redline.png"


@pytest.mark.parametrize(
    ("item", "fee", "amounts"),
    [
        (KNIFE, "excluded", (21.4, 1.07, 22.47)),
        (KNIFE, "included", (21.4, 1.07, 21.4)),
        (KNIFE, None, (21.4, 1.07, 22.47)),
        (FREE, "excluded", (0, 0, 0)),
        (NEGATIVE, "excluded", (0.01, 0, 0.01)),
        (LARGEST, "excluded", (10**12, 5 * 10**10, 1.05 * 10**12)),
    ],
)
async def test_amounts_are_exact(small_shop: Shop, item: int, fee: str | None, amounts: tuple[float, ...]) -> None:
    order = await small_shop.placed(item, fee=fee)
    assert tuple(order["amounts"][name] for name in ("price", "fee", "total")) == amounts
    assert order["amounts"]["currency"] == "USD"
    assert order["item"] == str(item)
    assert order["fee"] == (fee or "excluded")


@pytest.mark.parametrize("reference", ["cs2", "730"])
async def test_a_platform_has_two_names_and_is_answered_by_its_slug(small_shop: Shop, reference: str) -> None:
    assert (await small_shop.placed(platform=reference))["platform"] == "cs2"


@pytest.mark.parametrize("price", [21.4, "21.40", "21.400000000", "2.14e1"])
async def test_the_expected_price_may_be_written_in_any_way(small_shop: Shop, price: float | str) -> None:
    body = '{"account": "a", "email": "a@example.com", "platform": "cs2", "item": "40000012345", "expectedPrice": %s}'
    headers = {"Content-Type": "application/json"}
    response = await small_shop.app.client.post("/v1/gear", content=body % price, headers=headers)
    assert response.status_code == 201, response.text


async def test_of_a_hundred_buyers_at_once_one_gets_the_item(settings: Settings) -> None:
    """All others are refused. One whom a busy store has sent away with a 503 asks again."""
    async with opened(settings) as first, opened(settings) as second:
        clients = [(shop.app.client, f"client-{n}") for n in range(50) for shop in (first, second)]
        responses = await asyncio.gather(
            *(send_until_answered(client, None, account=account) for client, account in clients)
        )
        won = [response.json()["order"] for response in responses if response.status_code == 201]
        lost = [error_of(response)["code"] for response in responses if response.status_code != 201]
        assert len(won) == 1
        assert lost == ["item_unavailable"] * 99
        async with first.store.reading() as connection:
            assert await bound_items(connection, 730, None, 10) == [KNIFE]
        await first.until_hidden()


@pytest.mark.parametrize("end", ["failed", "cancelled"])
async def test_a_released_item_can_be_ordered_again(shop: Shop, end: str) -> None:
    first = await shop.placed()
    assert (await shop.order(account="other")).status_code == 409
    await shop.move(first["id"], "created", end)
    second = await shop.placed()
    assert second["id"] != first["id"]
    assert (await shop.order(account="other")).status_code == 409


async def test_orders_are_seen_by_their_own_token_and_by_fulfilment(shop: Shop) -> None:
    own, other, fulfil = await shop.token("order"), await shop.token("order"), await shop.token("fulfil")
    order = (await shop.order(token=own)).json()["order"]
    path = f"/v1/orders/{order['id']}"
    assert (await shop.get(path, own)).status_code == 200
    assert (await shop.get(path, fulfil)).status_code == 200
    hidden = await shop.get(path, other)
    assert (hidden.status_code, hidden.json()["error"]["code"]) == (404, "order_not_found")
    missing = await shop.get("/v1/orders/ord_unknown", other)
    assert hidden.json()["error"]["message"] == missing.json()["error"]["message"]


async def test_an_order_is_dated_when_it_was_placed(small_shop: Shop) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    order = await small_shop.placed()
    assert before <= datetime.fromisoformat(order["createdAt"]) <= datetime.now(UTC)
    assert order["createdAt"] == order["updatedAt"]
