"""The change feed and the matcher of searches on several hosts, whose clocks differ."""

from datetime import timedelta

import pytest

from store import feeds
from store.connection.engine import Store
from store.feeds import Feed, Segment
from store.leases import LeaseLostError, Leases
from store.saved_searches import matching
from tests.support.store.fixtures import NOW

FEED = "gear"


async def take_over(store: Store, owner: str, ahead: timedelta) -> Feed:
    """The feed with its lease taken by this recorder, whose clock is so far ahead."""
    async with store.transaction() as connection:
        await feeds.activate(connection, FEED, NOW)
        assert await feeds.LEASES.take(connection, FEED, owner, NOW + ahead, 6)
        feed = await feeds.find(connection, FEED)
    assert feed is not None
    return feed


async def open_log(store: Store, feed: Feed, name: str, ahead: timedelta) -> None:
    log = Segment(id=name, first=feed.committed + 1, last=feed.committed, opened_at=NOW + ahead, closed_at=None)
    async with store.transaction() as connection:
        await feeds.open_segment(connection, FEED, feed.term, log)


async def test_the_newest_log_is_the_one_that_is_written_whatever_the_clocks_say(store: Store) -> None:
    await open_log(store, await take_over(store, "a", timedelta(minutes=5)), "of a", timedelta(minutes=5))
    async with store.transaction() as connection:
        await feeds.LEASES.release(connection, FEED, "a")  # stops, and has committed nothing
    feed = await take_over(store, "b", timedelta())
    await open_log(store, feed, "of b", timedelta())
    async with store.transaction() as connection:
        await feeds.commit(connection, FEED, feed.term, "of b", 3, "{}")
        stored = await feeds.find(connection, FEED)
    assert stored is not None
    assert stored.committed == stored.newest.last == 3
    assert [segment.id for segment in stored.segments] == ["of a", "of b"]


@pytest.fixture(params=[feeds.LEASES, matching.LEASES], ids=["recorder", "matcher"])
async def leases(store: Store, request: pytest.FixtureRequest) -> Leases:
    """Those of recorders and of matchers, with something to lease."""
    async with store.transaction() as connection:
        await feeds.activate(connection, FEED, NOW)
        await matching.ensure(connection, FEED)
    leases: Leases = request.param
    return leases


async def test_a_lease_by_a_clock_that_was_wrong_stops_nobody(store: Store, leases: Leases) -> None:
    async with store.transaction() as connection:
        assert await leases.take(connection, FEED, "a", NOW + timedelta(days=1), 6)  # and dies
        assert not await leases.is_elsewhere(connection, FEED, "b", NOW)
        assert await leases.take(connection, FEED, "b", NOW, 6)
        for other, now, is_leased in (("b", NOW, False), ("c", NOW, True), ("c", NOW + timedelta(seconds=7), False)):
            assert await leases.is_elsewhere(connection, FEED, other, now) == is_leased
        assert not await leases.take(connection, FEED, "c", NOW, 6)


async def test_a_lease_is_released_by_its_owner_alone(store: Store, leases: Leases) -> None:
    async with store.transaction() as connection:
        assert not await leases.take(connection, "of another prefix", "a", NOW, 6)
        assert await leases.take(connection, FEED, "a", NOW, 6)
        await leases.release(connection, FEED, "b")
        assert await leases.is_elsewhere(connection, FEED, "b", NOW)
        await leases.release(connection, FEED, "a")
        assert not await leases.is_elsewhere(connection, FEED, "b", NOW)
        assert await leases.take(connection, FEED, "b", NOW, 6)


async def test_each_recorder_has_a_term_of_its_own(store: Store) -> None:
    first = await take_over(store, "a", timedelta())
    assert (await take_over(store, "a", timedelta(seconds=5))).term == first.term
    assert (await take_over(store, "b", timedelta(seconds=12))).term == first.term + 1
    with pytest.raises(LeaseLostError):
        await open_log(store, first, "of a", timedelta(seconds=12))
