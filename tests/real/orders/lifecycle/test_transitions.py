"""Transitions: an order goes only where the contract says, by whom it says, once, and its history tells all of it."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any, get_args

import pytest

from api.orders.transitions import REACHED_FROM
from api.settings import Settings
from store.orders import orders
from store.states import RELEASED, STATES, State
from tests.support.api.envelope import error_of
from tests.support.orders.calls import move
from tests.support.orders.life import ALLOWED
from tests.support.orders.shop import KNIFE, Shop, opened

# how to get an order into each state, as the contract draws it
WAYS: dict[str, tuple[str, ...]] = {
    "created": (),
    "processing": ("processing",),
    "delivered": ("processing", "delivered"),
    "completed": ("processing", "delivered", "completed"),
    "failed": ("failed",),
    "cancelled": ("cancelled",),
    "reverted": ("processing", "delivered", "reverted"),
}


async def order_in(shop: Shop, state: str) -> str:
    """A new order that fulfilment brought into this state."""
    order_id = str((await shop.placed())["id"])
    for to in WAYS[state]:
        assert (await move(shop, order_id, to)).status_code == 200
    return order_id


async def let_go(shop: Shop, order_id: str) -> None:
    """Brings the order to an end that releases the item, whatever state it is in."""
    for to in ("cancelled", "reverted"):
        await move(shop, order_id, to)


def test_the_table_is_that_of_the_contract() -> None:
    assert {(before, to) for to, befores in REACHED_FROM.items() for before in befores} == ALLOWED
    assert get_args(State) == STATES


async def test_every_pair_of_states_is_a_move_or_a_409(shop: Shop) -> None:
    for before, to in product(STATES, STATES):
        order_id = await order_in(shop, before)
        response = await move(shop, order_id, to, f"from {before}")
        if (before, to) in ALLOWED:
            order = response.json()["order"]
            assert response.status_code == 200, response.text
            assert order["state"] == to
            assert [event["state"] for event in order["history"]] == ["created", *WAYS[before], to]
            assert (order["history"][-1]["reason"], order["history"][-1]["at"]) == (
                f"from {before}",
                order["updatedAt"],
            )
            assert order == (await shop.get(f"/v1/orders/{order_id}")).json()["order"]
        else:
            error = error_of(response)
            assert error["code"] == "invalid_transition"
            assert before in error["message"]
            assert ("already" in error["message"]) == (before == to)
            history = (await shop.get(f"/v1/orders/{order_id}")).json()["order"]["history"]
            assert [event["state"] for event in history] == ["created", *WAYS[before]]
        await let_go(shop, order_id)


@pytest.mark.parametrize("end", sorted(RELEASED))
async def test_an_end_that_releases_the_item_offers_it_again(shop: Shop, end: str) -> None:
    order_id = await order_in(shop, "created")
    await shop.until_hidden()
    assert not (await shop.get(f"/v1/gear/{KNIFE}")).json()["available"]
    for to in WAYS[end]:
        await move(shop, order_id, to)
    assert (await shop.get(f"/v1/gear/{KNIFE}")).json()["available"]
    await shop.until_offered()
    assert (await shop.placed(account="next"))["id"] != order_id


async def test_an_orders_own_token_may_only_cancel_it_while_it_is_created(shop: Shop) -> None:
    own = await shop.token("order")
    for state in STATES:
        order_id = str((await shop.order(token=own)).json()["order"]["id"])
        for to in WAYS[state]:
            await move(shop, order_id, to)
        for to in STATES:
            if (state, to) == ("created", "cancelled"):
                continue
            response = await move(shop, order_id, to, token=own)
            # what nobody could do is a 409, what somebody else could is a 403
            nobody = to == "cancelled" and (state, to) not in ALLOWED
            assert error_of(response)["code"] == ("invalid_transition" if nobody else "forbidden"), (state, to)
        if state == "created":
            assert (await move(shop, order_id, "cancelled", "mine", own)).json()["order"]["state"] == "cancelled"
        await let_go(shop, order_id)


async def test_orders_of_others_are_not_there(small_shop: Shop) -> None:
    order_id = await order_in(small_shop, "created")
    other = await small_shop.token("order")
    assert error_of(await move(small_shop, order_id, "cancelled", token=other))["code"] == "order_not_found"
    assert error_of(await move(small_shop, order_id, "processing", token=other))["code"] == "order_not_found"
    assert error_of(await move(small_shop, "ord_unknown", "cancelled"))["code"] == "order_not_found"
    assert error_of(await move(small_shop, "a%00b", "cancelled"))["code"] == "order_not_found"
    fulfil = await small_shop.token("fulfil")
    assert (await move(small_shop, order_id, "processing", token=fulfil)).status_code == 200


async def test_what_is_no_transition_is_a_422(small_shop: Shop) -> None:
    order_id = await order_in(small_shop, "created")
    bodies: list[tuple[dict[str, Any], str]] = [
        ({}, "to"),
        ({"to": None}, "to"),
        ({"to": "sold"}, "to"),
        ({"to": "Cancelled"}, "to"),
        ({"to": "cancelled", "reason": "x" * 257}, "reason"),
        ({"to": "cancelled", "reason": "a\x00b"}, "reason"),
        ({"to": "cancelled", "reason": 1}, "reason"),
        ({"to": "cancelled", "from": "created"}, "from"),
    ]
    for body, field in bodies:
        error = error_of(await small_shop.app.client.post(f"/v1/orders/{order_id}/transitions", json=body))
        assert [detail["field"] for detail in error["details"]] == [field]
        assert (await small_shop.get(f"/v1/orders/{order_id}")).json()["order"]["state"] == "created"
    assert (await move(small_shop, order_id, "cancelled", "x" * 256)).status_code == 200


async def test_of_many_moves_at_once_one_happens(settings: Settings) -> None:
    async with opened(settings) as first, opened(settings) as second:
        order_id = await order_in(first, "created")
        # each of the two apps has a token of its own, and both may fulfil
        responses = await asyncio.gather(
            *(move(shop, order_id, to) for to in ("failed", "cancelled") * 5 for shop in (first, second))
        )
        assert sorted(response.status_code for response in responses) == [200] + [409] * 19
        history = (await first.get(f"/v1/orders/{order_id}")).json()["order"]["history"]
        assert len(history) == 2


async def test_a_move_that_a_rival_has_made_possible_meanwhile_happens(
    postgres_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    move_in_store = orders.move
    async with opened(postgres_settings) as shop:
        order_id = await order_in(shop, "created")

        async def fail_before_a_rivals_move(*arguments: Any) -> Any:
            monkeypatch.setattr(orders, "move", move_in_store)
            assert await move_in_store(*arguments) is None
            await shop.move(order_id, "created", "processing")

        monkeypatch.setattr(orders, "move", fail_before_a_rivals_move)
        response = await move(shop, order_id, "delivered")
        assert response.status_code == 200, response.text
        history = response.json()["order"]["history"]
        assert [event["state"] for event in history] == ["created", "processing", "delivered"]


async def test_a_clock_that_was_put_back_does_not_turn_a_history_around(shop: Shop) -> None:
    order_id = await order_in(shop, "created")
    past = datetime.now(UTC) - timedelta(days=400)
    for before, to in pairwise(("created", "processing", "failed")):
        async with shop.store.transaction() as connection:
            assert await orders.move(connection, order_id, [before], to, None, past)
    order = (await shop.get(f"/v1/orders/{order_id}")).json()["order"]
    times = [event["at"] for event in order["history"]]
    assert times == sorted(times)
    assert order["updatedAt"] >= order["createdAt"]
