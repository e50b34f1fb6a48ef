"""The service's own keys: all processes on one database have the same, whoever asked first."""

import asyncio

from store.auth import signing_keys
from store.connection.engine import Store
from tests.support.store.fixtures import NOW


async def test_a_key_is_made_once_and_is_the_same_for_all(store: Store, url: str) -> None:
    async with store.reading() as connection:
        assert await signing_keys.find(connection, "cursor") is None
    others = [Store(url) for _ in range(4)]

    async def made(one: Store) -> bytes:
        async with one.transaction() as connection:
            return await signing_keys.find_or_create(connection, "cursor", NOW)

    try:
        found = set(await asyncio.gather(*(made(one) for one in others)))
    finally:
        for one in others:
            await one.close()
    (key,) = found
    assert len(key) == 32
    async with store.transaction() as connection:
        assert await signing_keys.find(connection, "cursor") == key
        assert await signing_keys.find_or_create(connection, "another", NOW) != key
