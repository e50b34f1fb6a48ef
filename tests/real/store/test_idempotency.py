"""Kept answers: a key is taken by one transaction, whose end frees or answers it; in time it is erased."""

import asyncio
from datetime import timedelta

import pytest

from store import idempotency, orders
from store.engine import Store
from store.idempotency import Kept
from store.orders import Order
from store.tokens import CreatedToken
from tests.real.store.conftest import NOW, NewOrders


async def answered(store: Store, new_order: NewOrders, key: str, item: int) -> Order:
    new = new_order(item)
    async with store.transaction() as connection:
        assert await idempotency.claim(connection, new.token_id, key, f"digest {item}", NOW) is None
        order = await orders.place(connection, new, NOW)
        await idempotency.keep(connection, new.token_id, key, order.id, f"answer {item}")
    return order


async def test_the_first_answer_is_kept(store: Store, new_order: NewOrders, token: CreatedToken) -> None:
    order = await answered(store, new_order, "k", 5)
    kept = Kept(order_id=order.id, body_digest="digest 5", answer="answer 5")
    async with store.transaction() as connection:
        assert await idempotency.claim(connection, token.token.id, "k", "another", NOW) == kept
    async with store.reading() as connection:
        assert await idempotency.find(connection, token.token.id, "k") == kept
        assert await idempotency.find(connection, token.token.id, "K") is None
        assert await idempotency.find(connection, "tok_other", "k") is None
    assert "answer 5" not in repr(kept)


async def test_a_transaction_that_fails_leaves_the_key_free(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    async def fails() -> None:
        async with store.transaction() as connection:
            assert await idempotency.claim(connection, token.token.id, "k", "digest", NOW) is None
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fails()
    async with store.reading() as connection:
        assert await idempotency.find(connection, token.token.id, "k") is None
    assert (await answered(store, new_order, "k", 5)).active


@pytest.mark.parametrize("outcome", ["commits", "fails"])
async def test_a_rival_waits_for_the_one_that_has_the_key(
    store: Store, new_order: NewOrders, token: CreatedToken, outcome: str
) -> None:
    new = new_order(5)
    taken, go_on = asyncio.Event(), asyncio.Event()

    async def first() -> None:
        async with store.transaction() as connection:
            await idempotency.claim(connection, token.token.id, "k", "digest", NOW)
            taken.set()
            await go_on.wait()
            order = await orders.place(connection, new, NOW)
            await idempotency.keep(connection, token.token.id, "k", order.id, "answer")
            if outcome == "fails":
                raise ZeroDivisionError

    async def second() -> Kept | None:
        await taken.wait()
        asyncio.get_running_loop().call_later(0.2, go_on.set)
        async with store.transaction() as connection:
            return await idempotency.claim(connection, token.token.id, "k", "digest", NOW)

    one, other = await asyncio.gather(first(), second(), return_exceptions=True)
    if outcome == "commits":
        assert one is None
        assert isinstance(other, Kept)
    else:
        assert isinstance(one, ZeroDivisionError)
        assert other is None


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
        assert await idempotency.claim(connection, token.token.id, "k0", "digest", NOW) is None
        assert await orders.is_bound(connection, 730, 0)  # only the answers are gone
