"""Transactions at the same time on PostgreSQL, where none waits for all the others: no ring, nothing overwritten."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from sqlalchemy import text

from api.orders.index_sync import IndexSync
from store import database, migrate
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.orders import idempotency, orders, privacy
from store.orders.idempotency import NO_REFUSALS
from store.outbox import index_outbox
from store.outbox.callbacks import lock_subjects
from store.outbox.index_outbox import IndexUpdate
from store.saved_searches import matching, searches
from tests.support.store.fixtures import NOW, NewOrders
from tests.support.store.postgres import Postgres
from tests.support.store.saved_search import search_of

pytestmark = pytest.mark.parametrize("kind", ["postgresql"], indirect=True)

LATER = NOW + timedelta(days=2)


async def until_waiting(postgres: Postgres, store: Store, count: int = 1) -> None:
    """Until so many transactions wait for a lock."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(5):
        while True:
            async with store.reading() as connection:
                if (await connection.scalar(waiting) or 0) >= count:
                    return
            await asyncio.sleep(0.02)


async def keyed(store: Store, new_order: NewOrders, key: str, item: int) -> str:
    """Places an order under a key, and returns its id."""
    async with store.transaction() as connection:
        new = new_order(item)
        await idempotency.claim(connection, new.token_id, key, "digest", NO_REFUSALS, NOW)
        order = await orders.place(connection, new, NOW)
        response = json.dumps({"status": "success", "order": {"id": order.id, "account": "client-17", "code": None}})
        await idempotency.save(connection, new.token_id, key, order.id, response)
    return order.id


async def test_erasure_leaves_the_response_of_a_later_order_of_the_same_key(
    postgres: Postgres, store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    """A body without a key that is ordered again, after its first order has ended, has the key of its body again."""
    keys = ["first", "second"]
    ids = [await keyed(store, new_order, key, item) for item, key in enumerate(keys)]
    async with store.transaction() as connection:
        for order_id in ids:
            await orders.move(connection, order_id, ["created"], "cancelled", None, NOW)

    async def erase() -> None:
        async with store.transaction() as connection:
            await privacy.erase_ended(connection, privacy.of_ids(ids), 10)

    async with asyncio.TaskGroup() as tasks, store.transaction() as connection:
        await idempotency.forget(connection, token.token.id, keys[0])
        tasks.create_task(erase())
        await until_waiting(postgres, store)
        async with store.transaction() as rival:
            await idempotency.forget(rival, token.token.id, keys[1])
        again = await keyed(store, new_order, keys[1], 17)
    async with store.reading() as connection:
        stored, _ = await idempotency.find(connection, token.token.id, keys[1])
    assert stored is not None
    assert stored.order_id == again
    assert json.loads(stored.response)["order"]["id"] == again


async def test_a_gap_of_all_searches_is_marked_while_their_attempts_are_recorded(
    postgres: Postgres, store: Store, token: CreatedToken
) -> None:
    """Whoever records attempts locks the searches by their ids, in whatever order they were saved."""
    saved = sorted((search_of(token, str(number), 1) for number in range(2)), key=lambda each: each.id)
    async with store.transaction() as connection:
        for search in reversed(saved):
            await searches.add(connection, search, 10)

    async def mark() -> None:
        async with store.transaction() as connection:
            await matching.mark_all_gaps(connection, LATER)

    async with asyncio.TaskGroup() as tasks, store.transaction() as connection:
        await lock_subjects(connection, [saved[0].id])
        tasks.create_task(mark())
        await until_waiting(postgres, store)
        await lock_subjects(connection, [saved[1].id])
    async with store.reading() as connection:
        rows = await searches.list_newest(connection, token.token.id, None, 10)
    assert [row.gap_at for row in rows] == [LATER, LATER]


async def test_a_search_is_saved_while_orders_of_its_token_are_under_way(
    store: Store, new_order: NewOrders, token: CreatedToken
) -> None:
    """One order after the other would keep it from its turn for ever."""
    async with store.transaction() as connection, asyncio.timeout(3):
        await orders.place(connection, new_order(1), NOW)
        async with store.transaction() as beside:
            await searches.add(beside, search_of(token, "beside an order", 1), 10)


async def test_keys_are_rotated_while_orders_are_under_way(store: Store, new_order: NewOrders) -> None:
    [table] = [table for table in database.TABLES if table.name == "tokens"]
    async with store.transaction() as connection, asyncio.timeout(3):
        await orders.place(connection, new_order(1), NOW)
        async with store.transaction() as beside:
            assert (await database.reencrypt(beside, table, "", 10))[0] == 1


async def test_index_updates_of_which_some_fail_are_recorded_beside_a_writer_of_the_same_items(
    postgres: Postgres, store: Store
) -> None:
    async def publish(updates: object) -> list[bool]:
        raise NotImplementedError

    async with store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1, 2], NOW)
        batch = await index_outbox.lease(connection, NOW, 30, 10)

    async def record() -> None:
        accepted: set[IndexUpdate] = {batch[1]}
        await IndexSync(store, publish).record(batch, accepted, set())

    async with asyncio.TaskGroup() as tasks, store.transaction() as connection:
        await index_outbox.enqueue(connection, 730, [1], NOW)
        tasks.create_task(record())
        await until_waiting(postgres, store)
        await index_outbox.enqueue(connection, 730, [2], NOW)


@asynccontextmanager
async def by_default(postgres: Postgres, isolation: str) -> AsyncIterator[None]:
    """Transactions of the database that do not say how isolated they are."""
    setting = "ALTER DATABASE store_tests {} default_transaction_isolation"
    await postgres.execute(setting.format("SET") + f" = '{isolation}'")
    try:
        yield
    finally:
        await postgres.execute(setting.format("RESET"))


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
async def test_the_default_isolation_of_the_database_does_not_count(
    url: str, postgres: Postgres, new_order: NewOrders, isolation: str
) -> None:
    """A rival of the item is told so, and not that the database is unavailable."""
    async with by_default(postgres, isolation):
        store = Store(url)
        try:
            results = await asyncio.gather(
                *(keyed(store, new_order, f"key {number}", 5) for number in range(4)), return_exceptions=True
            )
        finally:
            await store.close()
    assert not [result for result in results if isinstance(result, StoreUnavailable)]


async def test_a_migration_does_not_make_orders_wait_behind_a_long_reader(
    postgres: Postgres, empty_url: str, new_order: NewOrders
) -> None:
    """A backup by pg_dump reads each table until its end; who waits for a lock makes all wait that come after it."""
    await migrate.upgrade(empty_url, "0020")
    store = Store(empty_url)
    try:
        async with store.reading() as backup:
            await backup.execute(text("SELECT count(*) FROM index_outbox"))
            with pytest.raises(StoreUnavailable, match="lock"):
                await asyncio.wait_for(migrate.upgrade(empty_url), 8)
        await migrate.upgrade(empty_url)
    finally:
        await store.close()
    assert await migrate.current(empty_url) == migrate.head()
