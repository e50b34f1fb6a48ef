"""The service's own keys: all processes on one database have the same, whoever asked first."""

import asyncio

from store.auth import signing_keys
from store.connection.engine import Store
from tests.support.store.fixtures import NOW


async def test_a_key_is_made_once_and_is_the_same_for_all(store: Store, url: str) -> None:
    async with store.reading() as connection:
        assert await signing_keys.find(connection, "cursor") is None
    others = [Store(url) for _ in range(4)]

    async def read_key(own_store: Store) -> bytes:
        async with own_store.transaction() as connection:
            return await signing_keys.find_or_create(connection, "cursor", NOW)

    try:
        keys = set(await asyncio.gather(*(read_key(own_store) for own_store in others)))
    finally:
        for own_store in others:
            await own_store.close()
    (key,) = keys
    assert len(key) == 32
    async with store.transaction() as connection:
        assert await signing_keys.find(connection, "cursor") == key
        assert await signing_keys.find_or_create(connection, "another", NOW) != key
