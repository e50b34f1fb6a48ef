"""Idempotency keys: one transaction claims a key, its end frees or answers it; in time the key is erased."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event

from store.auth.tokens import CreatedToken
from store.bound_items import bound_among
from store.connection.engine import Store
from store.connection.errors import Superseded
from store.orders import idempotency, orders
from store.orders.idempotency import NO_REFUSALS, Refusals, StoredResponse
from store.records import Order
from tests.support.store.fixtures import NOW, NewOrders

NOTHING = None, NO_REFUSALS


async def answered(store: Store, new_order: NewOrders, key: str, item: int) -> Order:
    new = new_order(item)
    async with store.transaction() as connection:
        assert await idempotency.claim(connection, new.token_id, key, f"digest {item}", NO_REFUSALS, NOW) is None
        order = await orders.place(connection, new, NOW)
        await idempotency.save(connection, new.token_id, key, order.id, f"answer {item}")
    return order


async def test_the_first_answer_is_preserved(store: Store, new_order: NewOrders, token: CreatedToken) -> None:
    order = await answered(store, new_order, "k", 5)
    stored = StoredResponse(order_id=order.id, body_digest="digest 5", response="answer 5")
    async with store.transaction() as connection:
        assert await idempotency.claim(connection, token.token.id, "k", "another", NO_REFUSALS, NOW) == stored
    async with store.reading() as connection:
        assert await idempotency.find(connection, token.token.id, "k") == (stored, NO_REFUSALS)
        assert await idempotency.find(connection, token.token.id, "K") == NOTHING
        assert await idempotency.find(connection, "tok_other", "k") == NOTHING
    assert "answer 5" not in repr(stored)


async def test_a_transaction_that_fails_leaves_the_key_free(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    async def fails() -> None:
        async with store.transaction() as connection:
            assert await idempotency.claim(connection, token.token.id, "k", "digest", NO_REFUSALS, NOW) is None
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails()
    async with store.reading() as connection:
        assert await idempotency.find(connection, token.token.id, "k") == NOTHING
    assert (await answered(store, new_order, "k", 5)).active


@pytest.mark.parametrize("outcome", ["commits", "fails"])
async def test_a_rival_waits_for_the_one_that_has_the_key(
    store: Store, new_order: NewOrders, token: CreatedToken, outcome: str
) -> None:
    new = new_order(5)
    taken, go_on = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with store.transaction() as connection:
            await idempotency.claim(connection, token.token.id, "k", "digest", NO_REFUSALS, NOW)
            taken.set()
            await go_on.wait()
            order = await orders.place(connection, new, NOW)
            await idempotency.save(connection, token.token.id, "k", order.id, "response")
            if outcome == "fails":
                raise ZeroDivisionError

    async def second() -> StoredResponse | None:
        await taken.wait()
        asyncio.get_running_loop().call_later(0.2, go_on.set)
        async with store.transaction() as connection:
            return await idempotency.claim(connection, token.token.id, "k", "digest", NO_REFUSALS, NOW)

    claimed, rival = await asyncio.gather(first(), second(), return_exceptions=True)
    if outcome == "commits":
        assert claimed is None
        assert isinstance(rival, StoredResponse)
    else:
        assert isinstance(claimed, ZeroDivisionError)
        assert rival is None


async def test_old_keys_are_erased_in_batches_and_younger_ones_stay(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    for item in range(5):
        await answered(store, new_order, f"k{item}", item)
    async with store.transaction() as connection:
        assert await idempotency.erase_older(connection, NOW, 10) == 0
        later = NOW + timedelta(microseconds=1)
        assert await idempotency.erase_older(connection, later, 3) == 3
        assert await idempotency.erase_older(connection, later, 3) == 2
        assert await idempotency.erase_older(connection, later, 3) == 0
        assert await idempotency.claim(connection, token.token.id, "k0", "digest", NO_REFUSALS, NOW) is None
        assert await bound_among(connection, 730, [0])  # only the answers are gone


async def test_old_keys_are_erased_without_a_look_at_the_orders_for_each(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    """It took a second and a half for 500 keys beside 20,000 undelivered orders."""
    statements: list[str] = []

    @event.listens_for(store.sync_engine, "before_cursor_execute")
    def keep(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    await answered(store, new_order, "k", 1)
    async with store.transaction() as connection:
        assert await idempotency.erase_older(connection, NOW + timedelta(days=1), 10) == 1
    [deletion] = [statement for statement in statements if statement.startswith("DELETE")]
    assert "orders" not in deletion


async def test_a_refusal_ends_the_calls_that_began_before_it_and_no_others(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    owner = token.token.id

    async def claims(refusals: Refusals) -> StoredResponse | None:
        async with store.transaction() as connection:
            return await idempotency.claim(connection, owner, "k", "digest", refusals, NOW)

    async with store.transaction() as connection:
        assert await idempotency.refuse(connection, owner, "k", NOW) is None
    with pytest.raises(Superseded):
        await claims(NO_REFUSALS)
    async with store.reading() as connection:
        state = await idempotency.find(connection, owner, "k")
    assert state == (None, Refusals(1, NOW))
    async with store.transaction() as connection:
        assert await idempotency.claim(connection, owner, "k", "digest", state[1], NOW) is None
        order = await orders.place(connection, new_order(5), NOW)
        await idempotency.save(connection, owner, "k", order.id, "response")
    stored = StoredResponse(order_id=order.id, body_digest="digest", response="response")
    async with store.transaction() as connection:
        assert await idempotency.refuse(connection, owner, "k", NOW) == stored  # what came through stays
    assert await claims(NO_REFUSALS) == stored


@pytest.mark.parametrize("before", [1, 2])
async def test_a_refusal_ends_earlier_calls_also_where_their_keys_row_was_erased(
    store: Store, token: CreatedToken, before: int
) -> None:
    owner = token.token.id

    async def refuse(now: datetime) -> None:
        async with store.transaction() as connection:
            assert await idempotency.refuse(connection, owner, "k", now) is None

    for _ in range(before):
        await refuse(NOW)
    async with store.reading() as connection:
        _, refusals = await idempotency.find(connection, owner, "k")
    later = NOW + timedelta(seconds=1)
    async with store.transaction() as connection:
        assert await idempotency.erase_refused(connection, later, 10) == 1
    await refuse(later)
    async with asyncio.timeout(10), store.transaction() as connection:
        with pytest.raises(Superseded):
            await idempotency.claim(connection, owner, "k", "digest", refusals, later)
