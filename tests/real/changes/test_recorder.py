"""What a recorder does when it is taken over, when its snapshot of an index is lost, and when its log is."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from api.changes import recorder
from api.changes.feed import ChangeFeed
from api.changes.recorder import Intervals
from api.orders.services import OrderServices
from store.schema import feed_segments, feeds
from tests.support.api.catalogue import simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp
from tests.support.indexer.fixtures import Place
from tests.support.orders.shop import Shop
from tests.support.streams.changes import ITEMS, Json, Reader, delete, load, upsert


async def lose_snapshots(app: RunningApp) -> None:
    """Closes every point in time that the recorder has, as an engine does that is started again."""
    shop = Shop(app)
    async with shop.store.reading() as connection:
        state = (await connection.execute(select(feeds.c.state))).scalar_one()
    pits = [snapshot.pit for snapshot in recorder._state.decode(state).values()]  # its own form
    await app.app.state.services[OrderServices].engine.close_pits(pits)


async def lease_to_another(app: RunningApp, time: timedelta) -> None:
    """Gives the feed to another worker, who never records."""
    taken = {"owner": "another", "term": feeds.c.term + 1, "leased_until": datetime.now(UTC) + time}
    async with Shop(app).store.transaction() as connection:
        await connection.execute(update(feeds).values(taken))


async def rows(app: RunningApp) -> int:
    """How many logs there are."""
    async with Shop(app).store.reading() as connection:
        return len((await connection.execute(select(feed_segments))).all())


async def test_nothing_is_lost_with_the_snapshot_of_an_index(
    app: RunningApp, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = await Reader(app.client).begin()
    await upsert(place, simple_item(1001), simple_item(1002))
    await reader.until(2)
    await lease_to_another(app, timedelta(minutes=9))  # nobody sees a part of what follows in a snapshot again
    await lose_snapshots(app)
    await asyncio.gather(upsert(place, simple_item(1001, 7), simple_item(1003)), delete(place, 1002))
    await lease_to_another(app, timedelta(seconds=-1))
    changes: list[Json] = []
    async with asyncio.timeout(60):
        while {change["id"] for change in changes} != {1001, 1002, 1003}:
            response = await reader.ask(since=reader.next, wait=5)
            changes += response["changes"]
            reader.next = response["next"]
    last = {change["id"]: change for change in changes}
    assert [last[number]["change"] for number in (1001, 1002, 1003)] == ["changed", "gone", "changed"]
    reader.items |= {number: last[number]["gear"] for number in (1001, 1003)}
    del reader.items[1002]
    await reader.agrees()


async def test_nothing_is_lost_with_the_snapshot_of_an_index_that_is_replaced(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    await lose_snapshots(app)
    removed, *others = ITEMS
    await load(place, [*others, simple_item(1001)])
    assert {change["id"] for change in await reader.until(2)} == {removed["id"], 1001}
    await reader.agrees()


async def test_what_a_recorder_wrote_that_was_taken_over_is_never_read(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    await upsert(place, simple_item(1001))
    await reader.until(1)
    await lease_to_another(app, timedelta(seconds=-1))  # who dies at once
    await upsert(place, simple_item(1001, 3), simple_item(1002))
    assert len(await reader.until(2)) == 2
    assert await rows(app) == 2
    await reader.agrees()


async def test_a_page_that_ends_a_log_says_whether_later_logs_have_more(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    others = Reader(app.client, {"filters": {"ids": [1001, 1005]}}, next=reader.next)
    for first in (1001, 1003, 1005):
        await upsert(place, simple_item(first), simple_item(first + 1))
        await reader.until(2)
        await lease_to_another(app, timedelta(seconds=-1))  # each recorder has a log of its own
    assert await rows(app) == 3
    bookmark = others.next
    pages: list[Json] = []
    while not pages or pages[-1]["more"]:
        pages.append(await reader.ask(since=bookmark))
        bookmark = pages[-1]["next"]
    assert [change["id"] for page in pages for change in page["changes"]] == [*range(1001, 1007)]
    earlier = await others.ask(since=others.next)
    last = await others.ask(since=earlier["next"])
    assert [(change["id"], page["more"]) for page in (earlier, last) for change in page["changes"]] == [
        (1001, True),  # though the next log has nothing for it
        (1005, False),  # though another change follows
    ]
    again = await others.ask(since=last["next"])
    assert (again["changes"], again["more"]) == ([], False)


async def test_bookmarks_expire_with_their_log(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    place.client.indices.delete(index=f"{place.alias.removesuffix('-730')}-changes-*")
    await upsert(place, simple_item(1001))
    response = await app.client.post("/v1/gear/changes", json={"since": reader.next, "wait": 30}, timeout=60)
    error_of(response, "bookmark_expired")
    again = await Reader(app.client).begin()
    assert 1001 in again.items
    await upsert(place, simple_item(1002))
    assert [change["id"] for change in await again.until(1)] == [1002]


@pytest.mark.parametrize("app", [Intervals(expire_seconds=0.0)], indirect=True)
async def test_logs_of_a_service_whose_prefix_begins_like_them_stay(app: RunningApp, place: Place) -> None:
    other = f"{place.alias.removesuffix('-730')}-changes-eu-730"
    place.client.indices.create(index=other)
    await upsert(place, simple_item(1001))
    reader = await Reader(app.client).begin()
    await upsert(place, simple_item(1002))
    await reader.until(1)
    log = app.app.state.services[ChangeFeed].log
    await log.drop_all_but([], await log.indices())
    assert list(place.client.indices.get(index=f"{place.alias.removesuffix('-730')}-changes-*")) == [other]


async def test_bookmarks_expire_with_the_index_that_the_feed_goes_on_from(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    await lease_to_another(app, timedelta(minutes=9))  # nobody compares the indices before the old one is gone
    await load(place, [*ITEMS, simple_item(1001)], keep=1)
    await lease_to_another(app, timedelta(seconds=-1))

    async def has_expired() -> bool:
        response = await app.client.post("/v1/gear/changes", json={"since": reader.next})
        return response.status_code == 410

    await until(has_expired, otherwise="the bookmark is as good as ever")
    again = await Reader(app.client).begin()
    assert 1001 in again.items
    await upsert(place, simple_item(1002))
    assert [change["id"] for change in await again.until(1)] == [1002]


@pytest.mark.parametrize("app", [Intervals(expire_seconds=0.0, logs=10**9)], indirect=True)  # a log for each change
async def test_a_log_is_dropped_once_it_is_older_than_the_retention(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    old = reader.next
    store, long_ago = Shop(app).store, datetime.now(UTC) - timedelta(days=2)
    logs = f"{place.alias.removesuffix('-730')}-changes-*"

    async def logs_are(count: int) -> None:
        async def so() -> bool:
            return await rows(app) == len(place.client.indices.get(index=logs)) == count

        await until(so, otherwise=f"there are not {count} logs")

    await upsert(place, simple_item(1001))
    await reader.until(1)
    await logs_are(2)
    async with store.transaction() as connection:
        closed = update(feed_segments).where(feed_segments.c.closed_at.is_not(None))
        await connection.execute(closed.values(closed_at=long_ago))
    await logs_are(1)
    error_of(await app.client.post("/v1/gear/changes", json={"since": old}), "bookmark_expired")
    await reader.agrees()
    async with store.transaction() as connection:  # nobody reads it any more
        await connection.execute(update(feeds).values(read_at=long_ago))
    await logs_are(0)
    error_of(await app.client.post("/v1/gear/changes", json={"since": reader.next}), "bookmark_expired")
