"""Migrations of orders: those of an older schema stay as they were."""

from dataclasses import asdict
from typing import Any, Final

import pytest
from sqlalchemy import bindparam, text
from sqlalchemy.ext.asyncio import create_async_engine

from store import migrate
from store.connection.address import database_address
from store.connection.engine import Store
from store.connection.errors import ItemTaken
from store.orders import idempotency, orders, privacy
from store.outbox import index_outbox
from store.records import NewOrder
from tests.support.store.erasing import erase_batch
from tests.support.store.fixtures import NOW

Statement = tuple[str, dict[str, Any]]

BEFORE: Final = "0020"
"""The revision before the newest one."""

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
            results = []
            for statement, values in statements:
                named = text(statement).bindparams(*(bindparam(name) for name in values))
                result = await connection.execute(named, values)
                results.append(list(result.scalars()) if result.returns_rows else [])
            return results
    finally:
        await engine.dispose()


def insertion(table: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return f"INSERT INTO {table} ({', '.join(values)}) VALUES (:{', :'.join(values)})", values  # own names


def real(item: int) -> NewOrder:
    shared = {name: value for name, value in ORDER.items() if name in NewOrder.__dataclass_fields__}
    return NewOrder(**{**shared, "item": item})  # type: ignore[arg-type]  # the table's values are of these types


async def test_orders_of_an_older_schema_stay(empty_url: str) -> None:
    await migrate.upgrade(empty_url, BEFORE)
    event = {"order_id": "ord_old", "n": 1, "state": "created", "at": AT}
    await rows(empty_url, insertion("tokens", TOKEN), insertion("orders", ORDER), insertion("order_events", event))
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        order = await orders.get(connection, "ord_old")
        assert order is not None
        assert (order.sandbox, order.body_digest, order.created_at) == (False, None, NOW)
        with pytest.raises(ItemTaken):
            await orders.place(connection, real(5), NOW)
        await orders.place(connection, real(6), NOW)
        await orders.place(connection, NewOrder(**{**asdict(real(5)), "sandbox": True}), NOW)
    await store.close()


async def test_the_buyers_data_of_an_older_order_are_erased(empty_url: str) -> None:
    await migrate.upgrade(empty_url, BEFORE)
    older = {**ORDER, "trade_link": "https://trade.example"}
    event = {"order_id": "ord_old", "n": 1, "state": "created", "at": AT}
    await rows(empty_url, insertion("tokens", TOKEN), insertion("orders", older), insertion("order_events", event))
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        order = await orders.get(connection, "ord_old")
        assert order is not None
        assert (order.forget, order.email) == (False, "buyer@example.com")
        of_account = privacy.of_account("a", ["tok_old"])
        assert await privacy.mark(connection, of_account, 10) == ["ord_old"]
        assert await privacy.erase_ended(connection, of_account, 10) == []
        assert await privacy.waiting(connection, of_account) == {"ord_old": "created"}
        await orders.move(connection, "ord_old", ["created"], "failed", None, NOW)
        assert await erase_batch(connection, None, 10) == 1
    await store.close()
    personal: Statement = ("SELECT email || coalesce(trade_link, '') FROM orders", {})
    assert await rows(empty_url, personal) == [[""]]


async def test_pending_index_updates_and_stored_responses_keep_their_rows(empty_url: str) -> None:
    await migrate.upgrade(empty_url, BEFORE)
    pending = {"platform": 730, "item": 5, "version": 3, "applied_version": 2, "attempts": 1, "updated_at": AT}
    key = {
        "token_id": "tok_old",
        "key": "k",
        "body_digest": "d",
        "order_id": "ord_old",
        "response": "{}",
        "created_at": AT,
    }
    await rows(
        empty_url,
        insertion("tokens", TOKEN),
        insertion("orders", ORDER),
        insertion("index_outbox", pending),
        insertion("idempotency_keys", key),
    )
    await migrate.upgrade(empty_url)
    store = Store(empty_url)
    async with store.transaction() as connection:
        [update] = await index_outbox.lease(connection, NOW, 30, 10)
        assert (update.item, update.version, update.bound, update.attempts) == (5, 3, True, 2)
        stored, _ = await idempotency.find(connection, "tok_old", "k")
        assert stored is not None
        assert stored.response == "{}"
    await store.close()
