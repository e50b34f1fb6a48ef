"""Migrations of orders: those of an older schema stay as they were on the way up, and real ones on the way down."""

from dataclasses import asdict
from typing import Any

import pytest
from sqlalchemy import bindparam, text
from sqlalchemy.ext.asyncio import create_async_engine

from store import migrate
from store.connection.address import database_address
from store.connection.engine import Store
from store.connection.errors import ItemTaken
from store.orders import idempotency, orders, privacy, sandbox
from store.outbox import index_outbox
from store.records import NewOrder, PlannedMove
from tests.support.store.fixtures import NOW

Statement = tuple[str, dict[str, Any]]

AT = int(NOW.timestamp() * 1_000_000)
TOKEN = {
    "id": "tok_old",
    "name": "shop",
    "sha256": "0" * 64,
    "scopes": "order",
    "sandbox": False,
    "webhook_secret": "whsec_x",
    "created_at": AT,
}
ORDER = {
    "id": "ord_old",
    "token_id": "tok_old",
    "state": "created",
    "platform": 730,
    "item": 5,
    "item_name": "AK-47 | Redline",
    "account": "a",
    "email": "buyer@example.com",
    "fee_mode": "included",
    "currency": "USD",
    "price_minor": 1,
    "fee_minor": 0,
    "total_minor": 1,
    "status_key": "key",
    "created_at": AT,
    "updated_at": AT,
}


async def rows(url: str, *statements: tuple[str, dict[str, Any]]) -> list[list[Any]]:
    """What each statement returns, past the store; all in one transaction."""
    engine = create_async_engine(database_address(url))
    try:
        async with engine.begin() as connection:
            found = []
            for statement, values in statements:
                named = text(statement).bindparams(*(bindparam(name) for name in values))
                result = await connection.execute(named, values)
                found.append(list(result.scalars()) if result.returns_rows else [])
            return found
    finally:
        await engine.dispose()


def insertion(table: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES (:{', :'.join(values)})", values  # own names


def real(item: int) -> NewOrder:
    shared = {name: value for name, value in ORDER.items() if name in NewOrder.__dataclass_fields__}
    return NewOrder(**{**shared, "item": item})  # type: ignore[arg-type]  # the table's values are of these types


async def test_orders_of_the_first_schema_go_up_and_down_again(empty_url: str) -> None:
    await migrate.upgrade(empty_url, "0001")
    event = {"order_id": "ord_old", "n": 1, "state": "created", "at": AT}
    await rows(empty_url, insertion("tokens", TOKEN), insertion("orders", ORDER), insertion("order_events", event))
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        kept = await orders.get(connection, "ord_old")
        assert kept is not None
        assert (kept.sandbox, kept.body_digest, kept.created_at) == (False, None, NOW)
        with pytest.raises(ItemTaken):
            await orders.place(connection, real(5), NOW)
        await orders.place(connection, real(6), NOW)
        tried = await orders.place(connection, NewOrder(**{**asdict(real(5)), "sandbox": True}), NOW)
        move = PlannedMove(from_state="created", to_state="failed", reason=None, due_at=NOW)
        await sandbox.plan(connection, tried.id, [move])
        await idempotency.claim(connection, "tok_old", "key", "digest", 0, NOW)
        await idempotency.save(connection, "tok_old", "key", tried.id, "{}")
    await store.close()

    await migrate.downgrade(empty_url, "0001")
    found = await rows(
        empty_url, ("SELECT item FROM orders ORDER BY item", {}), ("SELECT count(*) FROM order_events", {})
    )
    assert found == [[5, 6], [2]]  # the sandbox order would be taken for a real one
    await migrate.upgrade(empty_url)
    assert (await rows(empty_url, ("SELECT count(*) FROM orders WHERE NOT sandbox", {}))) == [[2]]


async def test_orders_to_be_forgotten_go_down_with_their_personal_data_and_up_again_without_a_mark(
    empty_url: str,
) -> None:
    """A mark that the schema 0004 cannot keep is lost; the order and its buyer's data are not."""
    await migrate.upgrade(empty_url, "0004")
    older = {
        **ORDER,
        "sandbox": False,
        "callback_url": "https://shop.example/hook",
        "trade_link": "https://trade.example",
    }
    event = {"order_id": "ord_old", "n": 1, "state": "created", "at": AT}
    await rows(empty_url, insertion("tokens", TOKEN), insertion("orders", older), insertion("order_events", event))
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        assert await privacy.mark(connection, "a", ["tok_old"], 10) == ["ord_old"]
        assert await privacy.erase_account(connection, "a", ["tok_old"], 10) == []
        assert await privacy.waiting(connection, "a", ["tok_old"]) == {"ord_old": "created"}
        gone = await orders.place(connection, real(6), NOW)
        await orders.move(connection, gone.id, ["created"], "failed", None, NOW)
        assert await privacy.erase_account(connection, "a", ["tok_old"], 10) == [gone.id]
        await idempotency.refuse(connection, "tok_old", "refused", NOW)
    await store.close()

    await migrate.downgrade(empty_url, "0004")
    kept: Statement = ("SELECT email || ' ' || trade_link || ' ' || callback_url FROM orders WHERE id = 'ord_old'", {})
    erased: Statement = ("SELECT email FROM orders WHERE state = 'failed'", {})
    keys: Statement = ("SELECT count(*) FROM idempotency_keys", {})
    personal = "buyer@example.com https://trade.example https://shop.example/hook"
    assert await rows(empty_url, kept, erased, keys) == [[personal], [""], [0]]
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        back = await orders.get(connection, "ord_old")
        assert back is not None
        assert (back.forget, back.email) == (False, "buyer@example.com")
        await orders.move(connection, "ord_old", ["created"], "failed", None, NOW)
        assert await privacy.erase_forgotten(connection, 10) == 0  # the mark was lost on the way down
        assert await privacy.erase_account(connection, "a", ["tok_old"], 10) == ["ord_old"]
    await store.close()
    assert await rows(empty_url, ("SELECT DISTINCT email FROM orders", {})) == [[""]]


async def test_pending_index_updates_and_stored_responses_keep_their_rows_up_and_down(empty_url: str) -> None:
    await migrate.upgrade(empty_url, "0007")
    pending = {"platform": 730, "item": 5, "version": 3, "applied_version": 2, "attempts": 1, "updated_at": AT}
    key = {
        "token_id": "tok_old",
        "key": "k",
        "body_digest": "d",
        "order_id": "ord_old",
        "answer": "{}",
        "created_at": AT,
    }
    await rows(
        empty_url,
        insertion("tokens", TOKEN),
        insertion("orders", ORDER),
        insertion("masks", pending),
        insertion("idempotency_keys", {**key, "created_at": AT}),
    )
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        [update] = await index_outbox.lease(connection, NOW, 30, 10)
        assert (update.item, update.version, update.bound, update.attempts) == (5, 3, True, 2)
        state = await idempotency.find(connection, "tok_old", "k")
        assert state.stored is not None
        assert state.stored.response == "{}"
    await store.close()
    await migrate.downgrade(empty_url, "0007")
    version: Statement = ("SELECT version FROM masks WHERE attempts = 2 AND leased_until IS NOT NULL", {})
    answer: Statement = ("SELECT answer FROM idempotency_keys", {})
    assert await rows(empty_url, version, answer) == [[3], ["{}"]]
