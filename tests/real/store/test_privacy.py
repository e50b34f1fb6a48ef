"""Personal data: erased from orders at their end, by age or on demand, and from nothing else; the order stays."""

import json
from dataclasses import asdict
from datetime import timedelta

from sqlalchemy import select

from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.bound_items import is_bound
from store.connection.engine import Store
from store.orders import idempotency, orders, privacy
from store.records import NewOrder, Order
from store.schema import deliveries
from store.states import ENDED, STATES
from tests.support.store.fixtures import NOW, NewOrders

LATER = NOW + timedelta(days=30)
GONE = {
    "account": "",
    "email": "",
    "platform_user_id": None,
    "trade_link": None,
    "success_url": None,
    "failure_url": None,
    "callback_url": None,
    "body_digest": None,
}


async def one_in_each_state(store: Store, new_order: NewOrders) -> dict[str, Order]:
    """An order in each state, each with a kept answer."""
    found: dict[str, Order] = {}
    async with store.transaction() as connection:
        for item, state in enumerate(STATES):
            new = NewOrder(**{**asdict(new_order(item)), "body_digest": "digest"})
            await idempotency.claim(connection, new.token_id, state, "digest", 0, NOW)
            order = await orders.place(connection, new, NOW)
            answer = json.dumps({"status": "success", "order": {"id": order.id, "account": new.account}})
            await idempotency.save(connection, new.token_id, state, order.id, answer)
            before = ["delivered", "created", "processing"]
            moved = None if state == "created" else await orders.move(connection, order.id, before, state, "why", NOW)
            found[state] = moved or order
    return found


async def as_they_are(store: Store, known: dict[str, Order]) -> dict[str, Order]:
    found = {}
    async with store.reading() as connection:
        for state, order in known.items():
            read = await orders.get(connection, order.id)
            assert read is not None
            found[state] = read
    return found


def is_erased(before: Order, after: Order) -> bool:
    """Whether the personal data are gone and all else is as it was; False where nothing is gone."""
    if asdict(after) == asdict(before):
        return False
    assert asdict(after) == {**asdict(before), **GONE, "forget": after.forget}
    return True


async def test_orders_at_their_end_lose_them_by_age(store: Store, new_order: NewOrders) -> None:
    placed = await one_in_each_state(store, new_order)
    async with store.transaction() as connection:
        assert await privacy.erase_older(connection, NOW, 100) == 0
        assert await privacy.erase_older(connection, LATER, 3) == 3
        assert await privacy.erase_older(connection, LATER, 3) == len(ENDED) - 3
        assert await privacy.erase_older(connection, LATER, 3) == 0
    after = await as_they_are(store, placed)
    assert {state for state in STATES if is_erased(placed[state], after[state])} == ENDED
    async with store.reading() as connection:
        for state, order in placed.items():
            kept = (await idempotency.find(connection, order.token_id, state)).stored
            assert kept is not None
            account = "" if state in ENDED else order.account
            assert json.loads(kept.response) == {"status": "success", "order": {"id": order.id, "account": account}}
            assert len(await orders.events(connection, order.id)) == (1 if state == "created" else 2)
            pending = select(deliveries.c.state).where(deliveries.c.order_id == order.id)
            states = set((await connection.execute(pending)).scalars())
            assert states == ({"failed"} if state in ENDED else {"pending"})


async def test_an_account_is_forgotten_and_no_other(store: Store, new_order: NewOrders, token: CreatedToken) -> None:
    placed = await one_in_each_state(store, new_order)
    async with store.transaction() as connection:
        other = await tokens.create(connection, "other", ["order"], False, None, NOW)
        changes = {"a": {"account": "client-18"}, "b": {"token_id": other.token.id}}
        for item, (name, change) in enumerate(changes.items(), 100):
            order = await orders.place(connection, NewOrder(**{**asdict(new_order(item)), **change}), NOW)
            moved = await orders.move(connection, order.id, ["created"], "failed", None, NOW)
            assert moved is not None
            placed[name] = moved
    async with store.transaction() as connection:
        assert await privacy.owners(connection, "client-17") == {token.token.id: "shop", other.token.id: "other"}
        done = await privacy.forget(connection, "client-17", [token.token.id])
        assert sorted(done.erased) == sorted(placed[state].id for state in ENDED)
        assert done.waiting == {placed[state].id: state for state in STATES if state not in ENDED}
        assert await privacy.owners(connection, "nobody") == {}
    after = await as_they_are(store, placed)
    gone = {name for name in placed if asdict(after[name])["email"] == ""}
    assert gone == ENDED
    assert [after[name].forget for name in changes] == [False, False]


async def test_active_orders_are_forgotten_at_their_end(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    async with store.transaction() as connection:
        told = await orders.place(connection, new_order(1), NOW)
        silent = await orders.place(connection, NewOrder(**{**asdict(new_order(2)), "callback_url": None}), NOW)
        await privacy.forget(connection, "client-17", [token.token.id])
        assert await privacy.erase_forgotten(connection, 100) == 0
        for order in (told, silent):
            await orders.move(connection, order.id, ["created"], "cancelled", None, NOW)
        # the one that has callbacks to deliver waits for them
        assert await privacy.erase_forgotten(connection, 100) == 1
        await connection.execute(deliveries.update().values(state="delivered", next_attempt_at=None))
        assert await privacy.erase_forgotten(connection, 100) == 1
        assert await privacy.erase_forgotten(connection, 100) == 0
    after = await as_they_are(store, {"told": told, "silent": silent})
    assert {order.email for order in after.values()} == {""}


async def test_a_trade_taken_back_after_that_is_told_to_nobody(store: Store, new_order: NewOrders) -> None:
    placed = await one_in_each_state(store, new_order)
    async with store.transaction() as connection:
        await privacy.erase_older(connection, LATER, 100)
        moved = await orders.move(connection, placed["completed"].id, ["completed"], "reverted", "back", LATER)
        assert moved is not None
        assert not await is_bound(connection, 730, moved.item)
