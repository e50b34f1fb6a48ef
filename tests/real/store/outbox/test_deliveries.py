"""Deliveries in the store: which one is due, who may take it, and what is left of it, on both databases."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from store.orders import orders
from store.outbox import attempts, deliveries, redelivery
from store.outbox.attempts import FinishedAttempt
from store.outbox.deliveries import Saturated
from store.records import Attempt, DeliveryWork, NewOrder, Order
from tests.support.store.fixtures import NOW, NewOrders

SECOND = timedelta(seconds=1)


async def placed(store: Store, new: NewOrder, *states: str, at: datetime = NOW) -> Order:
    async with store.transaction() as connection:
        order = await orders.place(connection, new, at)
        for state in states:
            moved = await orders.move(connection, order.id, [order.state], state, None, at)
            assert moved is not None
            order = moved
    return order


class Room:
    """Room for so many, so many of them of each receiver, and for none of who is saturated already."""

    def __init__(self, left: int = 100, saturated: Saturated | None = None, of_a_receiver: int = 100) -> None:
        self.left = left
        self.receivers: list[str] = []
        self._saturated = saturated or Saturated()
        self._of_a_receiver = of_a_receiver

    def saturated(self) -> Saturated:
        full = {receiver for receiver in self.receivers if self.receivers.count(receiver) >= self._of_a_receiver}
        return replace(self._saturated, receivers=[*self._saturated.receivers, *full])

    def admit(self, receiver: str, _token_id: str, *, sandbox: bool) -> bool:  # as the dispatcher's has it
        self.receivers.append(receiver)
        if self.left <= 0 or self.receivers.count(receiver) > self._of_a_receiver:
            return False
        self.left -= 1
        return True


async def leased(
    store: Store, now: datetime = NOW, room: Room | None = None, delays: Sequence[timedelta] = ()
) -> list[DeliveryWork]:
    capacity = room or Room()
    async with store.transaction() as connection:
        due = await deliveries.any_due(connection, now, capacity.saturated())
        taken = await deliveries.lease(connection, now, 30.0, capacity, delays)
        assert due or not taken
        return taken


async def finished(store: Store, work: DeliveryWork, state: str, again: datetime | None = None) -> bool:
    """Notes an attempt; whether that changed the delivery."""
    outcome = "delivered" if state == "delivered" else "rejected"
    attempt = Attempt(at=NOW, outcome=outcome, status_code=200, milliseconds=3)
    note = FinishedAttempt(work=work, attempt=attempt, state=state, next_attempt_at=again)
    rows = "SELECT * FROM deliveries ORDER BY order_id, n"
    async with store.transaction() as connection:
        before = (await connection.exec_driver_sql(rows)).all()
        await attempts.record(connection, [note])
        return (await connection.exec_driver_sql(rows)).all() != before


async def ended(store: Store) -> None:
    """Ends what is due of tokens whose callbacks were stopped."""
    stopped = [work.subject.id for work in await leased(store) if work.stopped]
    async with store.transaction() as connection:
        await deliveries.end(connection, stopped)


async def listed(store: Store, order: Order) -> list[tuple[str, str, datetime | None]]:
    async with store.reading() as connection:
        rows = await redelivery.of_order(connection, order.id)
        return [(delivery.event, delivery.state, delivery.next_attempt_at) for delivery in rows]


async def test_a_lease_holds_until_it_runs_out(store: Store, new_order: NewOrders) -> None:
    await placed(store, new_order(1))
    [first] = await leased(store)
    assert await leased(store, NOW + 29 * SECOND) == []
    [second] = await leased(store, NOW + 30 * SECOND)
    assert not await finished(store, first, "pending", NOW)
    assert await finished(store, second, "pending", NOW + timedelta(hours=1))
    assert await leased(store, NOW + timedelta(minutes=59)) == []
    [third] = await leased(store, NOW + timedelta(hours=1))
    assert third.tries == 2


async def test_attempts_that_are_never_recorded_count_and_keep_to_the_schedule(
    store: Store, new_order: NewOrders
) -> None:
    order = await placed(store, new_order(1), "processing")
    minute = timedelta(minutes=1)
    times = NOW, NOW + minute / 2, NOW + 5.5 * minute, NOW + 35.5 * minute
    for tries, at in enumerate(times):
        assert await leased(store, at - SECOND) == []
        [work] = await leased(store, at, delays=(5 * SECOND, 5 * minute, 30 * minute))
        assert (work.n, work.tries) == (1, tries)
    assert work.leased_until == times[-1] + minute / 2
    async with store.transaction() as connection:
        assert await attempts.fail(connection, work, times[-1])
        assert await attempts.failed_by_token(connection) == {order.token_id: 1}
    assert await listed(store, order) == [("order.created", "failed", None), ("order.processing", "pending", times[-1])]
    async with store.transaction() as connection:
        assert (await redelivery.recover(connection, order.token_id, times[-1], "", 10, times[-1]))[0] == 1
    [again] = await leased(store, times[-1])
    assert (again.n, again.tries) == (1, 0)


async def test_a_delivery_that_another_dispatcher_has_is_not_ended(store: Store, new_order: NewOrders) -> None:
    order = await placed(store, new_order(1))
    [first] = await leased(store)
    assert await leased(store, NOW + 30 * SECOND)
    async with store.transaction() as connection:
        await attempts.fail(connection, first, NOW + 31 * SECOND)
        assert await attempts.failed_by_token(connection) == {order.token_id: 0}
    assert await listed(store, order) == [("order.created", "pending", NOW)]


@pytest.mark.parametrize("due", [None, NOW + SECOND])
async def test_a_released_delivery_had_no_attempt(store: Store, new_order: NewOrders, due: datetime | None) -> None:
    await placed(store, new_order(1))
    [work] = await leased(store)
    async with store.transaction() as connection:
        await deliveries.release(connection, work, due)
    assert len(await leased(store)) == (due is None)
    [again] = await leased(store, NOW + 31 * SECOND)
    assert again.tries == (due is None)


async def test_what_was_delivered_is_delivered_whoever_holds_it(store: Store, new_order: NewOrders) -> None:
    order = await placed(store, new_order(1))
    [first] = await leased(store)
    [second] = await leased(store, NOW + 30 * SECOND)
    assert await finished(store, first, "delivered")
    assert not await finished(store, second, "pending", NOW)
    assert await listed(store, order) == [("order.created", "delivered", None)]


async def test_only_the_first_pending_event_of_an_order_is_due(store: Store, new_order: NewOrders) -> None:
    order = await placed(store, new_order(1), "processing", "delivered")
    sent = []
    for _ in range(3):
        [work] = await leased(store)
        assert isinstance(work.subject, Order)
        sent.append((work.n, work.subject.state))
        assert await finished(store, work, "delivered" if work.n != 2 else "failed")
    assert sent == [(1, "created"), (2, "processing"), (3, "delivered")]
    assert await leased(store) == []
    assert [state for _, state, _ in await listed(store, order)] == ["delivered", "failed", "delivered"]


async def test_an_event_that_comes_while_the_last_one_is_being_noted_is_not_forgotten(
    store: Store, new_order: NewOrders
) -> None:
    """The two transactions meet on the order's row, whichever is first."""
    for turn in range(20):
        order = await placed(store, new_order(turn))
        [work] = await leased(store)

        async def move(order: Order = order) -> None:
            async with store.transaction() as connection:
                assert await orders.move(connection, order.id, ["created"], "processing", None, NOW)

        await asyncio.gather(finished(store, work, "delivered"), move())
        [following] = await leased(store)
        assert (following.subject.id, following.n) == (order.id, 2)
        assert await finished(store, following, "delivered")


async def test_many_attempts_that_end_together_are_each_recorded_with_what_follows(
    store: Store, new_order: NewOrders
) -> None:
    states = ("delivered", "failed", "pending") * 20
    placed_orders = [await placed(store, new_order(item), "processing") for item in range(len(states))]
    works = {work.subject.id: work for work in await leased(store)}
    notes = [
        FinishedAttempt(
            work=works[order.id],
            attempt=Attempt(at=NOW, outcome="rejected", status_code=500 + place, milliseconds=place),
            state=state,
            next_attempt_at=NOW + timedelta(hours=1) if state == "pending" else None,
        )
        for place, (order, state) in enumerate(zip(placed_orders, states, strict=True))
    ]
    async with store.transaction() as connection:
        await attempts.record(connection, notes[::-1])
    for place, (order, state) in enumerate(zip(placed_orders, states, strict=True)):
        async with store.reading() as connection:
            first, second = await redelivery.of_order(connection, order.id)
        assert first.attempts == [notes[place].attempt]
        assert (first.state, first.next_attempt_at) == (state, notes[place].next_attempt_at)
        assert second.next_attempt_at == (None if state == "pending" else NOW)


async def test_an_event_that_comes_while_stopped_callbacks_are_ended_is_ended_too(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    for turn in range(20):
        order = await placed(store, new_order(turn))
        if turn == 0:
            async with store.transaction() as connection:
                await tokens.revoke(connection, token.token.id, NOW, stop_callbacks=True)

        async def move(order: Order = order) -> None:
            async with store.transaction() as connection:
                assert await orders.move(connection, order.id, ["created"], "processing", None, NOW)

        await asyncio.gather(ended(store), move())
        await ended(store)
        assert [state for _, state, _ in await listed(store, order)] == ["failed", "failed"]


async def test_a_replay_goes_before_what_is_pending(store: Store, new_order: NewOrders) -> None:
    order = await placed(store, new_order(1), "processing")
    [first] = await leased(store)
    await finished(store, first, "failed")
    [second] = await leased(store)
    async with store.transaction() as connection:
        replayed = await redelivery.replay(connection, order.id, 1, NOW)
    assert replayed is not None
    assert (replayed.n, replayed.state, replayed.next_attempt_at) == (1, "pending", NOW)
    await finished(store, second, "pending", NOW)
    [again] = await leased(store)
    assert (again.n, again.tries) == (1, 0)
    assert await finished(store, again, "delivered")
    [rest] = await leased(store)
    assert rest.n == 2


async def test_a_lease_keeps_to_its_share(store: Store, new_order: NewOrders) -> None:
    for item in range(6):
        await placed(store, new_order(item), at=NOW + item * SECOND)
    later = NOW + 60 * SECOND
    taken = await leased(store, later, Room(of_a_receiver=2))
    assert [work.receiver for work in taken] == ["shop.example"] * 2
    assert await leased(store, later, Room(saturated=Saturated(receivers=["shop.example"]))) == []
    assert await leased(store, later, Room(saturated=Saturated(tokens=[taken[0].subject.token_id]))) == []
    assert await leased(store, later, Room(saturated=Saturated(sandbox=[False]))) == []
    assert len(await leased(store, later, Room(3, Saturated(receivers=["other.example"], sandbox=[True])))) == 3


async def test_a_long_queue_of_one_receiver_hides_nobodys(store: Store, new_order: NewOrders) -> None:
    for item in range(30):
        await placed(store, new_order(item))
    others = [f"https://{name}.example/hook" for name in "abc"]
    for item, url in enumerate(others, start=30):
        await placed(store, replace(new_order(item), callback_url=url), at=NOW + SECOND)
    taken = await leased(store, NOW + SECOND, Room(10, of_a_receiver=2))
    assert sorted(work.receiver for work in taken) == ["a.example", "b.example", "c.example", *["shop.example"] * 2]


async def test_the_backlog_counts_what_is_overdue(store: Store, new_order: NewOrders) -> None:
    await placed(store, new_order(1), "processing")
    await placed(store, new_order(2), at=NOW + SECOND)
    async with store.reading() as connection:
        assert await deliveries.overdue(connection, NOW - SECOND) == (0, None)
        assert await deliveries.overdue(connection, NOW + SECOND) == (2, NOW)


async def test_an_erased_address_leaves_numbers_and_nothing_to_do(store: Store, new_order: NewOrders) -> None:
    order = await placed(store, new_order(1), "processing")
    [work] = await leased(store)
    await finished(store, work, "delivered")
    async with store.transaction() as connection:
        await redelivery.forget_addresses(connection, [order.id])
        await connection.exec_driver_sql("UPDATE orders SET callback_url = NULL")
    assert await leased(store) == []
    assert await listed(store, order) == [("order.created", "delivered", None), ("order.processing", "failed", None)]
    async with store.transaction() as connection:
        assert await redelivery.replay(connection, order.id, 1, NOW) is None
        receivers = await connection.exec_driver_sql("SELECT DISTINCT receiver FROM deliveries")
        assert receivers.scalars().all() == [""]


@pytest.mark.parametrize("state", ["pending", "failed"])
async def test_recovery_takes_what_was_tried_and_missed(store: Store, new_order: NewOrders, state: str) -> None:
    order = await placed(store, new_order(1), "processing")
    untouched = await placed(store, new_order(2))
    [work] = [delivery for delivery in await leased(store) if delivery.subject.id == order.id]
    await finished(store, work, state, NOW + timedelta(hours=5) if state == "pending" else None)

    async def recovered(since: datetime) -> int:
        async with store.transaction() as connection:
            token_id = work.subject.token_id
            return (await redelivery.recover(connection, token_id, since, "", 10, NOW + SECOND))[0]

    assert await recovered(NOW + SECOND) == 0
    assert await recovered(NOW) == 1
    assert (await listed(store, order))[0] == ("order.created", "pending", NOW + SECOND)
    assert (await listed(store, untouched)) == [("order.created", "pending", NOW)]


@pytest.mark.parametrize("state", ["pending", "failed"])
@pytest.mark.parametrize("by", ["replay", "recover"])
async def test_an_attempt_that_is_under_way_does_not_undo_a_replay(
    store: Store, new_order: NewOrders, by: str, state: str
) -> None:
    order = await placed(store, new_order(1))
    [work] = await leased(store)
    await finished(store, work, "pending", NOW)
    [hanging] = await leased(store, NOW + SECOND)
    async with store.transaction() as connection:
        if by == "replay":
            await redelivery.replay(connection, order.id, 1, NOW + 2 * SECOND)
        else:
            token_id = work.subject.token_id
            assert (await redelivery.recover(connection, token_id, NOW, "", 10, NOW + 2 * SECOND))[0] == 1
    await finished(store, hanging, state, NOW + timedelta(hours=14) if state == "pending" else None)
    assert await listed(store, order) == [("order.created", "pending", NOW + 2 * SECOND)]
    [again] = await leased(store, NOW + 2 * SECOND)
    assert again.tries == 0
    assert await finished(store, hanging, "delivered")
    assert not await finished(store, again, "failed")
    async with store.reading() as connection:
        assert await attempts.failed_by_token(connection) == {order.token_id: 0}, "nothing was given up"
