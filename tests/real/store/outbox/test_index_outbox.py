"""The index outbox: each change of a claim reaches one worker at a time, and none is lost."""

import asyncio
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.outbox.index_outbox import IndexUpdate
from store.schema import index_outbox as index_outbox_table
from tests.support.store.fixtures import NOW, NewOrders


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


async def enqueue(store: Store, *items: int, now: datetime = NOW) -> None:
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, items, now)


async def lease(store: Store, now: datetime = NOW, seconds: float = 30, limit: int = 100) -> list[IndexUpdate]:
    async with store.transaction() as connection:
        return await index_outbox.lease(connection, now, seconds, limit)


async def mark_applied(store: Store, update: IndexUpdate, now: datetime = NOW) -> None:
    async with store.transaction() as connection:
        await index_outbox.mark_applied(connection, [update], now)


async def mark_failed(store: Store, update: IndexUpdate, retry_after: float, now: datetime = NOW) -> None:
    async with store.transaction() as connection:
        await index_outbox.mark_failed(connection, update, now, retry_after)


async def count_pending(store: Store) -> int:
    async with store.reading() as connection:
        return (await index_outbox.pending(connection))[0]


async def test_an_order_and_its_end_update_the_index_to_the_present_state(store: Store, new_order: NewOrders) -> None:
    async with store.transaction() as connection:
        placed = await orders.place(connection, new_order(5), NOW)
    (hide,) = await lease(store)
    assert hide == IndexUpdate(platform=730, item=5, version=1, bound=True, attempts=1, leased_until=later(30))
    async with store.transaction() as connection:
        await orders.move(connection, placed.id, ["created"], "cancelled", None, NOW)
    assert await lease(store) == []  # two workers never tell of one item at once
    await mark_applied(store, hide)
    assert await count_pending(store) == 1
    (offer,) = await lease(store)
    assert (offer.version, offer.bound, offer.attempts) == (2, False, 1)
    await mark_applied(store, offer)
    assert await count_pending(store) == 0
    assert await lease(store) == []


async def test_items_of_two_platforms_are_separate(store: Store, new_order: NewOrders) -> None:
    async with store.transaction() as connection:
        await orders.place(connection, new_order(5), NOW)
        await index_outbox.enqueue(connection, 570, [5], NOW)
    assert [(work.platform, work.item, work.bound) for work in await lease(store)] == [(570, 5, False), (730, 5, True)]


async def test_workers_share_the_rows_without_doubling(store: Store) -> None:
    await enqueue(store, *range(200))
    parts = await asyncio.gather(*(lease(store, limit=30) for _ in range(10)))
    items = [work.item for part in parts for work in part]
    assert len(items) == len(set(items))
    # PostgreSQL's workers pass over rows that others are taking, so some may be left for the next round
    assert all(len(part) <= 30 for part in parts)
    while more := await lease(store, limit=30):
        items += [work.item for work in more]
    assert sorted(items) == list(range(200))


async def test_the_oldest_change_is_indexed_first(store: Store) -> None:
    await enqueue(store, 1, now=later(3))
    await enqueue(store, 2, now=later(1))
    await enqueue(store, 3, now=later(2))
    assert [work.item for work in await lease(store, now=later(9), limit=2)] == [2, 3]


async def test_the_lease_of_a_dead_worker_ends(store: Store) -> None:
    await enqueue(store, 5)
    (first,) = await lease(store, seconds=30)
    assert await lease(store, now=later(29.999999)) == []
    (second,) = await lease(store, now=later(30), seconds=30)
    assert (second.version, second.attempts) == (first.version, 2)


async def test_a_lease_by_a_clock_that_was_wrong_delays_no_update(store: Store) -> None:
    """A worker whose clock is a day ahead dies with the row: the item is not offered until tomorrow."""
    await enqueue(store, 5)
    (wrong,) = await lease(store, now=later(86_400), seconds=30)
    (right,) = await lease(store)
    assert (right.version, right.attempts) == (wrong.version, 2)
    assert await lease(store, now=later(29)) == []


async def test_a_slow_worker_does_not_free_the_lease_of_its_successor(store: Store) -> None:
    await enqueue(store, 5)
    (slow,) = await lease(store, seconds=10)
    (quick,) = await lease(store, now=later(10), seconds=10)
    await enqueue(store, 5)
    await mark_failed(store, slow, retry_after=0, now=later(11))
    assert await lease(store, now=later(11)) == []
    await mark_applied(store, slow, now=later(11))
    assert await lease(store, now=later(11)) == []
    await mark_applied(store, quick, now=later(12))
    (next_version,) = await lease(store, now=later(12))
    assert next_version.version == 2


async def test_an_older_version_never_takes_a_newer_one_back(store: Store) -> None:
    await enqueue(store, 5)
    (slow,) = await lease(store, seconds=10)
    await enqueue(store, 5)
    (quick,) = await lease(store, now=later(10), seconds=10)
    await mark_applied(store, quick)
    await mark_applied(store, slow)
    assert await count_pending(store) == 0


async def test_a_failure_is_tried_again_after_its_pause(store: Store) -> None:
    await enqueue(store, 5)
    (work,) = await lease(store)
    await mark_failed(store, work, retry_after=2.5, now=later(1))
    assert await count_pending(store) == 1
    assert await lease(store, now=later(3.4)) == []
    (again,) = await lease(store, now=later(3.5))
    assert again.attempts == 2
    await mark_applied(store, again)
    await enqueue(store, 5)
    (fresh,) = await lease(store)
    assert fresh.attempts == 1


async def test_touching_tells_again_what_did_not_change(store: Store, new_order: NewOrders) -> None:
    async with store.transaction() as connection:
        await orders.place(connection, new_order(5), NOW)
    for work in await lease(store):
        await mark_applied(store, work)
    await enqueue(store)
    assert await count_pending(store) == 0
    await enqueue(store, 5, 6, 5)
    assert [(work.item, work.version, work.bound) for work in await lease(store)] == [(5, 2, True), (6, 1, False)]


async def test_many_writers_of_the_same_items_do_not_lock_each_other_out(store: Store) -> None:
    items = list(range(50))
    await asyncio.gather(*(enqueue(store, *(items if turn % 2 else reversed(items))) for turn in range(20)))
    async with store.reading() as connection:
        versions = (await connection.execute(select(index_outbox_table.c.version))).scalars().all()
    assert set(versions) == {20}


async def test_changes_are_listed_with_those_that_were_being_committed(store: Store) -> None:
    await enqueue(store, 1, now=later(-61))
    await enqueue(store, 2, 9, now=later(-60))
    await enqueue(store, 3, now=later(0))
    await enqueue(store, 4, now=later(100))
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 570, [7], NOW)
        first = await index_outbox.changed_since(connection, 730, NOW, None, 3)
        rest = await index_outbox.changed_since(connection, 730, NOW, first[-1], 3)
    assert (first, rest) == ([2, 3, 4], [9])


@pytest.mark.parametrize("outcome", ["applied", "failed"])
async def test_an_order_during_an_index_update_is_indexed_too(store: Store, new_order: NewOrders, outcome: str) -> None:
    await enqueue(store, 5)
    (work,) = await lease(store)
    async with store.transaction() as connection:
        await orders.place(connection, new_order(5), NOW)
    await (mark_applied(store, work) if outcome == "applied" else mark_failed(store, work, retry_after=0))
    (update,) = await lease(store)
    assert (update.version, update.bound) == (2, True)


async def test_of_some_items_those_that_were_ever_ordered_are_indexed_again(store: Store) -> None:
    await enqueue(store, 1, 2, 3)
    for work in await lease(store):
        await mark_applied(store, work)
    async with store.transaction() as connection:
        assert await index_outbox.enqueue_ever_ordered(connection, 730, [4, 3, 1], later(1)) == 2
        assert await index_outbox.enqueue_ever_ordered(connection, 730, [4], later(1)) == 0
        assert await index_outbox.enqueue_ever_ordered(connection, 440, [1], later(1)) == 0
    assert [(work.item, work.version) for work in await lease(store)] == [(1, 2), (3, 2)]


async def test_changes_are_found_from_a_time_on(store: Store) -> None:
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2], NOW - timedelta(minutes=5))
        await index_outbox.enqueue(connection, 730, [2, 3], NOW)
    async with store.reading() as connection:
        assert await index_outbox.changed_among(connection, 730, [1, 2, 3, 4], NOW) == {2, 3}
        assert await index_outbox.changed_among(connection, 730, [1], NOW - timedelta(minutes=5)) == {1}
        assert await index_outbox.changed_among(connection, 570, [1, 2, 3], NOW) == set()


async def test_overdue_are_only_old_pending_updates(store: Store) -> None:
    old = NOW - timedelta(minutes=5)
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2, 3], old)
        for update in await index_outbox.lease(connection, NOW, 30, 1):
            await index_outbox.mark_applied(connection, [update], NOW)
        await index_outbox.enqueue(connection, 730, [9], NOW)
    async with store.reading() as connection:
        assert await index_outbox.pending(connection, 730, NOW) == (2, old)
        assert await index_outbox.pending(connection, 730, old) == (0, None)
        assert await index_outbox.pending(connection, 570, NOW) == (0, None)


async def test_what_the_index_may_bind_is_accounted_for_until_a_minute_after_its_publication(store: Store) -> None:
    async def accounted(now: datetime) -> set[int]:
        async with store.reading() as connection:
            return await index_outbox.may_be_bound_among(connection, 730, [5, 6], now)

    await enqueue(store, 5)
    assert await accounted(later(59)) == {5}
    assert await accounted(later(3600)) == {5}, "pending for an hour, as while the engine is away"
    (work,) = await lease(store, now=later(3600))
    await mark_applied(store, work, now=later(3600))
    assert await accounted(later(3659)) == {5}, "a look at the index before its publication is as young"
    assert await accounted(later(3661)) == set()
