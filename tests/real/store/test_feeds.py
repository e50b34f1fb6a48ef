"""The change feed and the matcher of searches on several hosts, whose clocks differ."""

from datetime import timedelta

from store import feeds
from store.connection.engine import Store
from store.feeds import Feed, Segment
from store.saved_searches import matching
from tests.support.store.fixtures import NOW

FEED = "gear"


async def take_over(store: Store, owner: str, ahead: timedelta) -> Feed:
    """The feed with its lease taken by this recorder, whose clock is so far ahead."""
    async with store.transaction() as connection:
        await feeds.activate(connection, FEED, NOW)
        assert await feeds.lease(connection, FEED, owner, NOW + ahead, 6)
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
        await feeds.release(connection, FEED, "a")  # stops, and has committed nothing
    feed = await take_over(store, "b", timedelta())
    await open_log(store, feed, "of b", timedelta())
    async with store.transaction() as connection:
        await feeds.commit(connection, FEED, feed.term, "of b", 3, "{}")
        found = await feeds.find(connection, FEED)
    assert found is not None
    assert found.committed == found.newest.last == 3
    assert [segment.id for segment in found.segments] == ["of a", "of b"]


async def test_a_lease_by_a_clock_that_was_wrong_stops_no_recorder(store: Store) -> None:
    wrong = await take_over(store, "a", timedelta(days=1))  # and dies
    assert not wrong.is_leased_elsewhere("b", NOW)
    right = await take_over(store, "b", timedelta())
    assert (right.owner, right.term) == ("b", wrong.term + 1)
    for other, now, is_leased in (("b", NOW, False), ("c", NOW, True), ("c", NOW + timedelta(seconds=7), False)):
        assert right.is_leased_elsewhere(other, now) == is_leased
    async with store.transaction() as connection:
        assert not await feeds.lease(connection, FEED, "c", NOW, 6)
        await feeds.release(connection, FEED, "b")
        released = await feeds.find(connection, FEED)
    assert released is not None
    assert not released.is_leased_elsewhere("c", NOW)


async def test_a_lease_by_a_clock_that_was_wrong_stops_no_matcher(store: Store) -> None:
    async with store.transaction() as connection:
        assert await matching.lease(connection, FEED, "a", NOW + timedelta(days=1), 10)  # and dies
        assert not await matching.leased_elsewhere(connection, FEED, "b", NOW)
        assert await matching.lease(connection, FEED, "b", NOW, 10)
        assert await matching.leased_elsewhere(connection, FEED, "c", NOW)
        assert not await matching.lease(connection, FEED, "c", NOW, 10)
