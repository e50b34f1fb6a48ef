"""Orders: one item has one active order, whoever asks at once, and what is stored comes back as it was given."""

import asyncio
from dataclasses import asdict
from datetime import timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import select, update

from store.bound_items import bound_among, bound_items
from store.connection.engine import Store
from store.connection.errors import ConstraintBroken, ItemTaken
from store.orders import orders
from store.records import NewOrder, Order
from store.schema import index_outbox
from store.schema import orders as orders_table
from store.states import RELEASED
from tests.support.store.fixtures import NOW, NewOrders

LARGEST = 2**63 - 1


async def place(store: Store, new: NewOrder) -> Order:
    async with store.transaction() as connection:
        return await orders.place(connection, new, NOW)


async def queued_version(store: Store, item: int) -> int:
    async with store.reading() as connection:
        result = await connection.execute(select(index_outbox.c.version).where(index_outbox.c.item == item))
        return int(result.scalar_one())


async def test_an_order_comes_back_as_it_was_placed(store: Store, new_order: NewOrders) -> None:
    new = new_order(9_223_372_036_854_775_807)  # the largest id there is
    placed = await place(store, new)
    async with store.reading() as connection:
        by_id = await orders.get(connection, placed.id)
        by_key = await orders.get_by_status_key(connection, placed.status_key)
        history = await orders.events(connection, placed.id)
    assert placed == by_id == by_key
    assert {name: value for name, value in asdict(placed).items() if name in asdict(new)} == asdict(new)
    assert (placed.state, placed.active, placed.created_at, placed.updated_at) == ("created", True, NOW, NOW)
    assert [(event.n, event.state, event.at, event.reason) for event in history] == [(1, "created", NOW, None)]
    assert placed.created_at.utcoffset() == timedelta(0)


async def test_ids_and_status_keys_cannot_be_guessed(store: Store, new_order: NewOrders) -> None:
    first, second = await place(store, new_order(1)), await place(store, new_order(2))
    assert first.id.startswith("ord_")
    assert len(first.id) == len("ord_") + 24
    assert len(first.status_key) == 32
    assert len({first.id, second.id, first.status_key, second.status_key}) == 4


async def test_one_of_a_hundred_buyers_at_once_gets_the_item(store: Store, new_order: NewOrders) -> None:
    outcomes = await asyncio.gather(*(place(store, new_order(5)) for _ in range(100)), return_exceptions=True)
    won = [outcome for outcome in outcomes if isinstance(outcome, Order)]
    assert len(won) == 1
    assert sum(isinstance(outcome, ItemTaken) for outcome in outcomes) == 99
    async with store.reading() as connection:
        assert len((await connection.execute(select(orders_table.c.id))).all()) == 1
        assert len(await orders.events(connection, won[0].id)) == 1
    assert await queued_version(store, 5) == 1


async def test_a_hundred_buyers_of_a_hundred_items_are_all_served(store: Store, new_order: NewOrders) -> None:
    placed = await asyncio.gather(*(place(store, new_order(item)) for item in range(100)))
    async with store.reading() as connection:
        assert await bound_items(connection, 730, None, 1000) == list(range(100))
    assert len({order.id for order in placed}) == 100


async def test_a_refused_order_leaves_the_transaction_usable(store: Store, new_order: NewOrders) -> None:
    await place(store, new_order(5))
    async with store.transaction() as connection:
        with pytest.raises(ItemTaken, match="item 5 of platform 730 is held by another active order"):
            await orders.place(connection, new_order(5), NOW)
        await orders.place(connection, new_order(6), NOW)
    async with store.reading() as connection:
        assert await bound_items(connection, 730, None, 10) == [5, 6]
    assert await queued_version(store, 5) == 1


async def test_the_same_id_on_another_platform_is_another_item(store: Store, new_order: NewOrders) -> None:
    await place(store, new_order(5))
    other = NewOrder(**{**asdict(new_order(5)), "platform": 570})
    assert (await place(store, other)).active


async def test_what_fails_before_the_commit_leaves_nothing(store: Store, new_order: NewOrders) -> None:
    placed: list[Order] = []

    async def crash() -> None:
        async with store.transaction() as connection:
            placed.append(await orders.place(connection, new_order(5), NOW))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await crash()
    async with store.reading() as connection:
        assert await orders.get(connection, placed[0].id) is None
        assert await orders.events(connection, placed[0].id) == []
        assert not await bound_among(connection, 730, [5])
        assert (await connection.execute(select(index_outbox))).all() == []
    assert (await place(store, new_order(5))).active


async def test_a_cancelled_request_leaves_nothing(store: Store, new_order: NewOrders) -> None:
    written = asyncio.Event()

    async def abandoned() -> None:
        async with store.transaction() as connection:
            await orders.place(connection, new_order(5), NOW)
            written.set()
            await asyncio.Event().wait()

    request = asyncio.create_task(abandoned())
    await written.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert (await place(store, new_order(5))).active


@pytest.mark.parametrize("released", sorted(RELEASED))
async def test_a_released_item_can_be_ordered_again(store: Store, new_order: NewOrders, released: str) -> None:
    placed = await place(store, new_order(5))
    later = NOW + timedelta(minutes=3)
    async with store.transaction() as connection:
        assert await bound_among(connection, 730, [5])
        moved = await orders.move(connection, placed.id, ["created", "processing"], released, "out of stock", later)
        assert not await bound_among(connection, 730, [5])
        history = await orders.events(connection, placed.id)
    assert moved is not None
    assert (moved.state, moved.active, moved.created_at, moved.updated_at) == (released, False, NOW, later)
    assert [(event.n, event.state, event.at, event.reason) for event in history] == [
        (1, "created", NOW, None),
        (2, released, later, "out of stock"),
    ]
    assert await queued_version(store, 5) == 2
    assert (await place(store, new_order(5))).id != placed.id
    assert await queued_version(store, 5) == 3


async def test_a_move_that_keeps_the_item_does_not_trouble_the_index(store: Store, new_order: NewOrders) -> None:
    placed = await place(store, new_order(5))
    for before, after in [("created", "processing"), ("processing", "delivered"), ("delivered", "completed")]:
        async with store.transaction() as connection:
            moved = await orders.move(connection, placed.id, [before], after, None, NOW)
        assert moved is not None
        assert moved.active
    assert await queued_version(store, 5) == 1


async def test_only_one_of_two_rival_moves_happens(store: Store, new_order: NewOrders) -> None:
    placed = await place(store, new_order(5))

    async def move(to: str) -> Order | None:
        async with store.transaction() as connection:
            return await orders.move(connection, placed.id, ["created"], to, None, NOW)

    moved = await asyncio.gather(*(move(to) for to in ["processing", "cancelled"] * 10))
    assert sum(order is not None for order in moved) == 1
    async with store.reading() as connection:
        assert [event.n for event in await orders.events(connection, placed.id)] == [1, 2]


async def test_events_are_numbered_without_gaps_whoever_writes(store: Store, new_order: NewOrders) -> None:
    placed = await place(store, new_order(5))

    async def stay() -> None:
        async with store.transaction() as connection:
            await orders.move(connection, placed.id, ["created"], "created", None, NOW)

    await asyncio.gather(*(stay() for _ in range(20)))
    async with store.reading() as connection:
        assert [event.n for event in await orders.events(connection, placed.id)] == list(range(1, 22))


async def test_unknown_orders_and_wrong_states_differ_from_errors(store: Store, new_order: NewOrders) -> None:
    placed = await place(store, new_order(5))
    async with store.transaction() as connection:
        assert await orders.move(connection, "ord_unknown", ["created"], "failed", None, NOW) is None
        assert await orders.move(connection, placed.id, ["delivered"], "reverted", None, NOW) is None
        assert await orders.get(connection, "ord_unknown") is None
        assert await orders.get_by_status_key(connection, "unknown") is None
        assert await orders.events(connection, "ord_unknown") == []
        with pytest.raises(ValueError, match="no order leaves failed"):
            await orders.move(connection, placed.id, ["created", "failed"], "processing", None, NOW)


async def test_bound_items_are_paged_in_order(store: Store, new_order: NewOrders) -> None:
    for item in (40, -3, 7, 1_000_000_000_000, 12):
        await place(store, new_order(item))
    released = await place(store, new_order(8))
    async with store.transaction() as connection:
        await orders.move(connection, released.id, ["created"], "failed", None, NOW)
        pages = [await bound_items(connection, 730, None, 2)]
        while pages[-1]:
            pages.append(await bound_items(connection, 730, pages[-1][-1], 2))
        assert await bound_items(connection, 570, None, 2) == []
    assert pages == [[-3, 7], [12, 40], [1_000_000_000_000], []]


async def test_times_in_any_zone_come_back_in_utc(store: Store, new_order: NewOrders) -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    async with store.transaction() as connection:
        placed = await orders.place(connection, new_order(5), tokyo)
    assert placed.created_at == NOW
    assert placed.created_at.isoformat() == "2026-03-01T12:00:00.123456+00:00"


async def test_the_schema_refuses_what_is_no_order(store: Store, new_order: NewOrders) -> None:
    cases: dict[str, dict[str, Any]] = {
        "orders_fee_mode": {"fee_mode": "free"},
        "orders_amounts": {"fee_minor": -1},
        "orders_token|FOREIGN KEY": {"token_id": "tok_unknown"},
    }
    for constraint, change in cases.items():
        with pytest.raises(ConstraintBroken, match=constraint) as caught:
            await place(store, NewOrder(**{**asdict(new_order(5)), **change}))
        assert "buyer@example.com" not in str(caught.value)
        assert caught.value.__suppress_context__
    placed = await place(store, new_order(5))

    async def lose() -> None:
        async with store.transaction() as connection:
            await connection.execute(update(orders_table).where(orders_table.c.id == placed.id).values(state="lost"))

    with pytest.raises(ConstraintBroken, match="orders_state"):
        await lose()


async def test_the_buyers_data_is_not_in_the_repr_of_an_order(store: Store, new_order: NewOrders) -> None:
    shown = repr(await place(store, new_order(5)))
    for secret in ("buyer@example.com", "token=abcdefgh", "76561198000000001", "shop.example", "status_key"):
        assert secret not in shown


async def test_of_some_items_those_that_active_orders_hold_are_distinguished(
    store: Store, new_order: NewOrders
) -> None:
    async with store.transaction() as connection:
        for item in (1, 2, -3):
            placed = await orders.place(connection, new_order(item), NOW)
        await orders.move(connection, placed.id, ["created"], "cancelled", None, NOW)
    async with store.reading() as connection:
        assert await bound_among(connection, 730, [1, 2, -3, 4]) == {1, 2}
        assert await bound_among(connection, 730, [4]) == set()
        assert await bound_among(connection, 440, [1, 2]) == set()
        assert await bound_among(connection, 730, range(1, 10_001)) == {1, 2}


async def test_only_items_of_active_orders_are_bound(store: Store, new_order: NewOrders) -> None:
    async with store.transaction() as connection:
        for item in (1, 2, LARGEST):
            placed = await orders.place(connection, new_order(item), NOW)
            if item == 2:
                await orders.move(connection, placed.id, ["created"], "cancelled", None, NOW)
    async with store.reading() as connection:
        assert await bound_among(connection, 730, [1, 2, 3, LARGEST]) == {1, LARGEST}
        assert await bound_among(connection, 730, [2, 3]) == set()
        assert await bound_among(connection, 730, []) == set()
        assert await bound_among(connection, 570, [1]) == set()
        assert await bound_among(connection, 730, range(10_000)) == {1}
