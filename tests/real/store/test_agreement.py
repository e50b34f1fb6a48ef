"""Agreement: what orders and the outbox say of some items, the same on both databases."""

from datetime import timedelta

from store.bound_items import bound_among
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.outbox.index_outbox import OverdueUpdates, changed_among, overdue
from tests.support.store.fixtures import NOW, NewOrders

LARGEST = 2**63 - 1


async def test_only_items_of_active_orders_are_held(store: Store, new_order: NewOrders) -> None:
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


async def test_changes_are_found_from_a_moment_on(store: Store) -> None:
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2], NOW - timedelta(minutes=5))
        await index_outbox.enqueue(connection, 730, [2, 3], NOW)
    async with store.reading() as connection:
        assert await changed_among(connection, 730, [1, 2, 3, 4], NOW) == {2, 3}
        assert await changed_among(connection, 730, [1], NOW - timedelta(minutes=5)) == {1}
        assert await changed_among(connection, 570, [1, 2, 3], NOW) == set()


async def test_late_are_only_the_old_ones_that_the_index_does_not_know(store: Store) -> None:
    old = NOW - timedelta(minutes=5)
    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2, 3], old)
        for work in await index_outbox.lease(connection, NOW, 30, 1):
            await index_outbox.mark_applied(connection, [work])
        await index_outbox.enqueue(connection, 730, [9], NOW)
    async with store.reading() as connection:
        assert await overdue(connection, 730, NOW) == OverdueUpdates(items=2, since=old)
        assert await overdue(connection, 730, old) == OverdueUpdates(items=0, since=None)
        assert await overdue(connection, 570, NOW) == OverdueUpdates(items=0, since=None)
