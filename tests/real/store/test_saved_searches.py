"""Saved searches: the first of several that are saved at once decides from where on all are told."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from api.webhooks.limits import FreeCapacity
from store.auth import tokens
from store.auth.tokens import CreatedToken
from store.connection.engine import Store
from store.outbox import deliveries
from store.records import LogPosition
from store.saved_searches import matching, searches
from tests.support.store.fixtures import NOW
from tests.support.store.saved_search import search_of

MATCHER = "gear"


async def save(store: Store, token: CreatedToken, seq: int, begins: asyncio.Event) -> None:
    """Saves a search at a position of the log; sets the event once its transaction has begun."""
    async with store.transaction() as connection:
        begins.set()
        await matching.begin(connection, MATCHER, LogPosition("log", seq), NOW)
        await searches.add(connection, search_of(token, f"from {seq}", seq), 10)


async def position_of(store: Store) -> LogPosition:
    async with store.reading() as connection:
        return await matching.position(connection, MATCHER)


async def test_a_search_that_is_saved_beside_the_first_moves_the_place_no_further(
    store: Store, token: CreatedToken
) -> None:
    """Else the first would miss what changed between the two."""
    async with store.transaction() as connection:
        await matching.ensure(connection, MATCHER)
    begins = asyncio.Event()
    async with asyncio.TaskGroup() as tasks, store.transaction() as connection:
        await matching.begin(connection, MATCHER, LogPosition("log", 5), NOW)
        tasks.create_task(save(store, token, 9, begins))
        with suppress(TimeoutError):  # SQLite lets one write at a time
            await asyncio.wait_for(begins.wait(), 1)
        await asyncio.sleep(0.3)
        await searches.add(connection, search_of(token, "first", 5), 10)
    assert await position_of(store) == LogPosition("log", 5)


async def test_without_a_live_search_the_place_is_that_of_the_next(store: Store, token: CreatedToken) -> None:
    await save(store, token, 5, asyncio.Event())
    async with store.transaction() as connection:
        (search,) = await searches.list_newest(connection, token.token.id, None, 10)
        assert await searches.remove(connection, token.token.id, search.id, NOW + timedelta(seconds=1))
    await save(store, token, 9, asyncio.Event())
    assert await position_of(store) == LogPosition("log", 9)


@pytest.mark.parametrize("revoked", [False, True])
async def test_what_waits_for_a_revoked_token_is_not_sent(store: Store, token: CreatedToken, *, revoked: bool) -> None:
    """As docs/callbacks.md says; its orders' callbacks go on."""
    async with store.transaction() as connection:
        search = await searches.add(connection, search_of(token, "matched before", 1), 10)
        await matching.queue_callbacks(connection, {search.id: [b"[]"]}, NOW)
        if revoked:
            await tokens.revoke(connection, token.token.id, NOW)
        [work] = await deliveries.lease(connection, NOW, 30, FreeCapacity())
    assert work.stopped is revoked
