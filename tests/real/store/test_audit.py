"""The audit: written with what it tells of, read in the order of time, and never changed."""

from contextlib import suppress
from datetime import timedelta

import pytest

from store import audit
from store.audit import AuditEntry
from store.connection.engine import Store
from store.connection.errors import ConstraintBroken
from store.orders import orders
from store.records import Actor
from tests.support.store.fixtures import NOW, NewOrders

ROOT = Actor.command("root@shop")


async def recorded(store: Store, number: int) -> None:
    async with store.transaction() as connection:
        for n in range(number):
            await audit.record(connection, ROOT, "token.revoke", f"tok_{n}", NOW + timedelta(seconds=n // 2), {"n": n})


async def test_entries_are_paged_in_the_order_of_time(store: Store) -> None:
    await recorded(store, 5)
    listed: list[AuditEntry] = []
    async with store.reading() as connection:
        while page := await audit.entries(connection, NOW, listed[-1] if listed else None, 2):
            listed += page
        assert len(await audit.entries(connection, NOW + timedelta(seconds=1), None, 10)) == 3
    assert [entry.at for entry in listed] == sorted(entry.at for entry in listed)
    assert {(entry.actor, entry.action, entry.subject) for entry in listed} == {
        (ROOT, "token.revoke", f"tok_{n}") for n in range(5)
    }
    assert sorted(entry.details["n"] for entry in listed) == [0, 1, 2, 3, 4]


async def test_changes_of_orders_have_their_actors(store: Store, new_order: NewOrders) -> None:
    seller = Actor("tok_seller", "seller")
    async with store.transaction() as connection:
        order = await orders.place(connection, new_order(5), NOW, "shop")
        await orders.move(connection, order.id, ["created"], "processing", "taken", NOW, seller)
        await orders.move(connection, order.id, ["processing"], "failed", None, NOW + timedelta(seconds=1))
    async with store.reading() as connection:
        first = await audit.entries(connection, NOW, None, 2)
        rest = await audit.entries(connection, NOW, first[-1], 2)
    assert [(entry.actor, entry.action, entry.details) for entry in [*first, *rest]] == [
        (Actor(order.token_id, "shop"), "order.created", {}),
        (seller, "order.processing", {"reason": "taken"}),
        (Actor("system"), "order.failed", {}),
    ]
    assert {entry.subject for entry in first} == {order.id}


async def test_what_commands_and_requests_did_is_listed_in_order_of_time(store: Store, new_order: NewOrders) -> None:
    await recorded(store, 4)
    async with store.transaction() as connection:
        for n in range(3):
            await orders.place(connection, new_order(n), NOW + timedelta(milliseconds=n * 700), "shop")
    listed: list[AuditEntry] = []
    async with store.reading() as connection:
        while page := await audit.entries(connection, NOW, listed[-1] if listed else None, 2):
            listed += page
    assert [entry.at for entry in listed] == sorted(entry.at for entry in listed)
    assert len({entry.key for entry in listed}) == 7


@pytest.mark.parametrize("table", ["audit", "order_events"])
@pytest.mark.parametrize("change", ["UPDATE {} SET actor = 'nobody'", "DELETE FROM {}"])
async def test_nothing_is_changed_afterwards(store: Store, new_order: NewOrders, table: str, change: str) -> None:
    await recorded(store, 1)
    async with store.transaction() as connection:
        await orders.place(connection, new_order(5), NOW)
    with pytest.raises(ConstraintBroken):
        async with store.transaction() as connection:
            await connection.exec_driver_sql(change.format(table))


async def test_what_is_rolled_back_leaves_no_entry(store: Store) -> None:
    with suppress(RuntimeError):
        async with store.transaction() as connection:
            await audit.record(connection, ROOT, "token.revoke", "tok_1", NOW)
            raise RuntimeError
    async with store.reading() as connection:
        assert await audit.entries(connection, NOW, None, 10) == []
