"""Small requests that show whether a store can be written, read or used again."""

import asyncio

from store.auth import tokens
from store.connection.drivers import Timeouts
from store.connection.engine import Store
from store.connection.errors import StoreUnavailable
from tests.support.store.fixtures import NOW

SHORT = Timeouts(connect=0.5, lock=0.5, statement=0.5)
BOUND = 30.0
"""Seconds. Far above what SHORT allows, far below for ever: the machine may be busy."""


async def write(store: Store) -> None:
    async with store.transaction() as connection:
        await tokens.create(connection, "shop", ["order"], False, None, NOW)


async def read(store: Store) -> int:
    async with store.reading() as connection:
        return len(await tokens.list_all(connection))


async def becomes_usable(store: Store) -> None:
    """Timeouts until the store works again; nobody helps it."""
    async with asyncio.timeout(BOUND):
        while True:
            try:
                await write(store)
            except StoreUnavailable:
                await asyncio.sleep(0.05)
            else:
                return
