"""Encryption at rest: what the database has is unreadable without the keys, and all else works as without them."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import MultiFernet
from sqlalchemy import text

from api.webhooks.limits import FreeCapacity
from store import database, endpoints
from store.auth import signing_keys, tokens
from store.connection.encryption import cipher_of, new_key
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from store.database import check_keys, check_schema
from store.orders import orders, privacy
from store.orders.orders import OrderFilter
from store.outbox import deliveries
from store.records import NewOrder, Order
from tests.support.store.erasing import erase_batch
from tests.support.store.fixtures import NOW, NewOrders

OLD, NEW = new_key(), new_key()
COLUMNS = {
    "tokens": ("webhook_secret", "previous_webhook_secret"),
    "webhook_endpoints": ("secret", "previous_secret"),
    "signing_keys": ("value",),
    "orders": ("email", "trade_link"),
}


async def stored(store: Store) -> list[str]:
    """Every value of these columns, as the database has it."""
    values: list[str] = []
    async with store.reading() as connection:
        for table, columns in COLUMNS.items():
            for column in columns:
                rows = await connection.execute(text(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"))
                values += rows.scalars()
    return values


async def fill(store: Store, new: NewOrder) -> Order:
    """A row of each kind with every value set."""
    async with store.transaction() as connection:
        endpoint = await endpoints.add(connection, new.token_id, "https://shop.example/", exact=False, now=NOW)
        await endpoints.rotate(connection, endpoint.id, NOW + timedelta(days=1))
        await tokens.rotate_webhook_secret(connection, new.token_id, NOW + timedelta(days=1))
        await signing_keys.find_or_create(connection, "cursor", NOW)
        return await orders.place(connection, new, NOW)


async def secrets_of(store: Store) -> list[Any]:
    """What the service reads of all this."""
    async with store.transaction() as connection:
        [work] = await deliveries.lease(connection, NOW, 0.0, FreeCapacity())
        assert isinstance(work.subject, Order)
        [endpoint] = await endpoints.list_all(connection)
        [order] = await orders.list_newest(connection, OrderFilter(sandbox=False, account="client-17"), None, 10)
        return [
            work.secrets,
            work.subject.email,
            endpoint,
            await tokens.list_all(connection),
            await signing_keys.find(connection, "cursor"),
            asdict(order),
        ]


async def rotate(store: Store) -> None:
    async with store.transaction() as connection:
        for table in database.TABLES:
            count, after = await database.reencrypt(connection, table, "", 100)
            assert (count, after) == (1, None)


async def plain(store: Store) -> int:
    async with store.reading() as connection:
        return await database.count_plain(connection)


async def test_the_database_has_nothing_readable_and_the_service_all(url: str, new_order: NewOrders) -> None:
    store = Store(url, cipher=cipher_of([OLD]))
    new = new_order(1)
    placed = await fill(store, new)
    values = await stored(store)
    # the token was made without keys: its first secret, the previous one now, is still as it was
    assert len(values) == 7
    assert [value[:6] for value in values if not value.startswith("fernet:")] == ["whsec_"]
    assert await plain(store) == 1
    await rotate(store)
    values = await stored(store)
    assert all(value.startswith("fernet:gAAAA") for value in values)
    assert await plain(store) == 0
    (secret, previous), email, endpoint, [token], key, order = await secrets_of(store)
    assert (email, order["email"], order["trade_link"]) == (new.email, new.email, new.trade_link)
    assert order["id"] == placed.id
    assert (secret, previous) == (endpoint.secret, endpoint.previous_secret)
    assert all(plaintext.startswith("whsec_") for plaintext in (secret, previous, token.webhook_secret))
    assert len(key) == 32
    await store.close()


async def test_a_rotation_leaves_what_is_read_as_it_was(url: str, new_order: NewOrders) -> None:
    store = Store(url)
    await fill(store, new_order(1))
    before = await secrets_of(store)
    assert not any(value.startswith("fernet:") for value in await stored(store))
    await store.close()
    for keys in ([OLD], [NEW, OLD], [NEW]):
        store = Store(url, cipher=cipher_of(keys))
        await check_keys(store)
        assert await secrets_of(store) == before
        if len(keys) < 2 or keys[0] == NEW:
            await rotate(store)
        assert await secrets_of(store) == before
        await store.close()


@pytest.mark.parametrize("cipher", [None, cipher_of([NEW])])
async def test_without_the_right_key_the_error_says_so(
    url: str, new_order: NewOrders, cipher: MultiFernet | None
) -> None:
    store = Store(url, cipher=cipher_of([OLD]))
    placed = await fill(store, new_order(1))
    await store.close()
    store = Store(url, cipher=cipher)
    await check_schema(store)  # what knows no secret, such as a load, needs no key
    for read in (check_keys(store), get(store, placed.id)):
        with pytest.raises(StoreUnavailable, match="no key of GEAR_ENCRYPTION_KEYRING decrypts them"):
            await read
    await store.close()


async def get(store: Store, order_id: str) -> Order | None:
    async with store.reading() as connection:
        return await orders.get(connection, order_id)


async def test_what_is_erased_is_empty_and_stays_so(url: str, new_order: NewOrders, token: tokens.CreatedToken) -> None:
    store = Store(url, cipher=cipher_of([OLD]))
    placed = await fill(store, new_order(1))
    async with store.transaction() as connection:
        await orders.move(connection, placed.id, ["created"], "failed", None, NOW)
        assert await privacy.erase_ended(connection, privacy.of_account("client-17", [token.token.id]), 10) == [
            placed.id
        ]
    await rotate(store)
    async with store.reading() as connection:
        row = (await connection.execute(text("SELECT email, trade_link FROM orders"))).one()
    assert tuple(row) == ("", None)
    async with store.transaction() as connection:
        assert await erase_batch(connection, NOW + timedelta(days=400), 10) == 0
    await store.close()
