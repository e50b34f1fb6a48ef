"""Personal data: erased from orders at their end, by age or on demand, and from nothing else; the order stays."""

import asyncio
import json
from dataclasses import asdict
from datetime import timedelta

import pytest
from sqlalchemy import select

from api.orders.erasure import forget_account, forget_again
from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.bound_items import bound_among
from store.connection.drivers import Timeouts
from store.connection.engine import TRANSACTION_SECONDS, Store
from store.orders import idempotency, orders, privacy
from store.orders.idempotency import NO_REFUSALS
from store.records import NewOrder, Order
from store.schema import deliveries, metadata
from store.states import ENDED, STATES
from tests.support.store.erasing import erase_batch
from tests.support.store.fixtures import NOW, NewOrders, sqlite_file

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
    "code": None,
    "utm_source": None,
    "utm_medium": None,
}


async def one_in_each_state(store: Store, new_order: NewOrders) -> dict[str, Order]:
    """An order in each state, each with a kept answer."""
    by_state: dict[str, Order] = {}
    async with store.transaction() as connection:
        for item, state in enumerate(STATES):
            new = NewOrder(**{**asdict(new_order(item)), "body_digest": "digest"})
            await idempotency.claim(connection, new.token_id, state, "digest", NO_REFUSALS, NOW)
            order = await orders.place(connection, new, NOW)
            response = json.dumps({"status": "success", "order": {"id": order.id, **personal_of(new)}})
            await idempotency.save(connection, new.token_id, state, order.id, response)
            before = ["delivered", "created", "processing"]
            moved = None if state == "created" else await orders.move(connection, order.id, before, state, "why", NOW)
            by_state[state] = moved or order
    return by_state


async def as_they_are(store: Store, placed: dict[str, Order]) -> dict[str, Order]:
    current = {}
    async with store.reading() as connection:
        for state, order in placed.items():
            read = await orders.get(connection, order.id)
            assert read is not None
            current[state] = read
    return current


def personal_of(order: NewOrder) -> dict[str, str | None]:
    """What a response has of the buyer."""
    return {"account": order.account, "code": order.code}


def is_erased(before: Order, after: Order) -> bool:
    """Whether the personal data are gone and all else is as it was; False where nothing is gone."""
    if asdict(after) == asdict(before):
        return False
    assert asdict(after) == {**asdict(before), **GONE, "forget": after.forget}
    return True


async def test_orders_at_their_end_lose_them_by_age(store: Store, new_order: NewOrders) -> None:
    placed = await one_in_each_state(store, new_order)
    async with store.transaction() as connection:
        assert await erase_batch(connection, NOW, 100) == 0
        assert await erase_batch(connection, LATER, 3) == 3
        assert await erase_batch(connection, LATER, 3) == len(ENDED) - 3
        assert await erase_batch(connection, LATER, 3) == 0
    after = await as_they_are(store, placed)
    assert {state for state in STATES if is_erased(placed[state], after[state])} == ENDED
    async with store.reading() as connection:
        for state, order in placed.items():
            stored, _ = await idempotency.find(connection, order.token_id, state)
            assert stored is not None
            left = {"account": "", "code": None} if state in ENDED else personal_of(order)
            assert json.loads(stored.response) == {"status": "success", "order": {"id": order.id, **left}}
            reasons = [None] if state == "created" else [None, None if state in ENDED else "why"]
            assert [event.reason for event in await orders.events(connection, order.id)] == reasons
            pending = select(deliveries.c.state).where(deliveries.c.order_id == order.id)
            states = set((await connection.execute(pending)).scalars())
            assert states == ({"failed"} if state in ENDED else {"pending"})


async def test_the_response_of_several_orders_loses_them_too(store: Store, new_order: NewOrders) -> None:
    async with store.transaction() as connection:
        news = [new_order(item) for item in (1, 2)]
        await idempotency.claim(connection, news[0].token_id, "key", "digest", NO_REFUSALS, NOW)
        placed = [await orders.place(connection, new, NOW) for new in news]
        listed = [{"id": order.id, **personal_of(new)} for order, new in zip(placed, news, strict=True)]
        response = json.dumps({"status": "success", "orders": listed})
        await idempotency.save(connection, news[0].token_id, "key", placed[0].id, response)
        for order in placed:
            await orders.move(connection, order.id, ["created"], "failed", None, NOW)
        assert await erase_batch(connection, LATER, 100) == 2
        stored, _ = await idempotency.find(connection, news[0].token_id, "key")
    assert stored is not None
    erased = [{"id": order.id, "account": "", "code": None} for order in placed]
    assert json.loads(stored.response) == {"status": "success", "orders": erased}


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
    ids: list[str] = []
    done = await forget_account(store, "client-17", [token.token.id], ids.extend)
    assert sorted(done.erased) == sorted(placed[state].id for state in ENDED)
    assert done.waiting == {placed[state].id: state for state in STATES if state not in ENDED}
    assert sorted(ids) == sorted(placed[state].id for state in STATES)
    async with store.reading() as connection:
        assert await privacy.owners(connection, "nobody") == {}
    after = await as_they_are(store, placed)
    erased = {name for name in placed if asdict(after[name])["email"] == ""}
    assert erased == ENDED
    assert [after[name].forget for name in changes] == [False, False]


async def test_active_orders_are_forgotten_at_their_end(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    async with store.transaction() as connection:
        notified = await orders.place(connection, new_order(1), NOW)
        silent = await orders.place(connection, NewOrder(**{**asdict(new_order(2)), "callback_url": None}), NOW)
        assert len(await privacy.mark(connection, privacy.of_account("client-17", [token.token.id]), 100)) == 2
        assert await erase_batch(connection, None, 100) == 0
        for order in (notified, silent):
            await orders.move(connection, order.id, ["created"], "cancelled", None, NOW)
        # the one that has callbacks to deliver waits for them
        assert await erase_batch(connection, None, 100) == 1
        await connection.execute(deliveries.update().values(state="delivered", next_attempt_at=None))
        assert await erase_batch(connection, None, 100) == 1
        assert await erase_batch(connection, None, 100) == 0
    after = await as_they_are(store, {"notified": notified, "silent": silent})
    assert {order.email for order in after.values()} == {""}


async def test_a_trade_taken_back_after_that_has_no_callback(store: Store, new_order: NewOrders) -> None:
    placed = await one_in_each_state(store, new_order)
    async with store.transaction() as connection:
        await erase_batch(connection, LATER, 100)
        moved = await orders.move(connection, placed["completed"].id, ["completed"], "reverted", "back", LATER)
        assert moved is not None
        assert not await bound_among(connection, 730, [moved.item])


async def ended_orders(store: Store, new_order: NewOrders, count: int) -> None:
    """So many failed orders of the account, each with a callback that is still to be delivered."""
    async with store.transaction() as connection:
        first = await orders.place(connection, new_order(0), NOW)
        await orders.move(connection, first.id, ["created"], "failed", "why", NOW)
        for table, key, values in (
            ("orders", "id, status_key", "'o' || i, 's' || i"),
            ("order_events", "order_id", "'o' || i"),
            ("deliveries", "order_id", "'o' || i"),
        ):
            columns = ", ".join(
                column.name for column in metadata.tables[table].c if column.name not in key.split(", ")
            )
            await connection.exec_driver_sql(
                f"INSERT INTO {table} ({key}, {columns}) "
                f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}) "
                f"SELECT {values}, {columns} FROM n, {table}"
            )


async def test_orders_go_on_while_a_large_account_is_forgotten(
    url: str, store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    """One transaction for all of them would let no order in between on SQLite. Of the orders, each waits for a few
    transactions at most, and there are more than forty.
    """
    count = 4_000
    await ended_orders(store, new_order, count)
    patient = Timeouts(lock=TRANSACTION_SECONDS, statement=TRANSACTION_SECONDS)
    forgetful = Store(url, timeouts=patient)  # the command is a process of its own
    forgetting = asyncio.create_task(forget_account(forgetful, "client-17", [token.token.id], lambda _: None))
    buyer = Store(url, timeouts=patient)
    item = count
    while not forgetting.done():
        item += 1
        async with buyer.transaction() as connection:
            await orders.place(connection, NewOrder(**{**asdict(new_order(item)), "account": "client-18"}), NOW)
        await asyncio.sleep(0.01)
    erasure = await forgetting
    assert len(erasure.erased) == count
    assert erasure.waiting == {}
    assert item > count + 20
    await forgetful.close()
    await buyer.close()


async def test_a_restored_backup_is_erased_again_by_the_ids(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    placed = await one_in_each_state(store, new_order)
    ids = [order.id for order in placed.values()]
    done = await forget_again(store, [*ids[1:], "ord_of_another_time"])
    ended = {order.id for order in placed.values() if order.state in ENDED} - {ids[0]}
    assert set(done.erased) == ended
    assert set(done.waiting) == set(ids[1:]) - ended
    assert (await forget_again(store, ids[1:])).erased == []
    after = await as_they_are(store, placed)
    assert [order.forget for order in after.values()].count(True) == len(done.waiting)
    assert after[placed[STATES[0]].state].email == "buyer@example.com"


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
async def test_nothing_is_left_in_any_file(url: str, store: Store, new_order: NewOrders, token: CreatedToken) -> None:
    secrets = (b"buyer@example.com", b"token=abcdefgh", b"76561198000000001", b"client-17", b"SPRING", b"newsletter")

    def readable_secrets() -> set[bytes]:
        file = sqlite_file(url)
        data = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
        return {secret for secret in secrets if secret in data}

    for item in range(50):
        async with store.transaction() as connection:
            order = await orders.place(connection, new_order(item), NOW)
            await orders.move(connection, order.id, ["created"], "failed", "SPRING it was", NOW)
    assert readable_secrets() == set(secrets)
    reader = store.reading()
    async with reader as connection:  # keeps the write-ahead log as it was
        await orders.get(connection, order.id)
        erasure = await forget_account(store, "client-17", [token.token.id], lambda _: None)
        assert (len(erasure.erased), erasure.journal_emptied) == (50, False)
    assert await store.empty_journal(erased=False)
    assert readable_secrets() == set()
