"""The change feed tells what a search finds no more, finds now, or finds changed: each change once, in order."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from opensearchpy.exceptions import TransportError
from structlog.testing import capture_logs

from api.changes.feed import ChangeFeed
from api.changes.log import ChangePage, Subscription
from api.changes.schemas import MAX_CHANGES
from api.settings import Settings
from mappings.platforms import read_platforms
from store import feeds
from store.records import LogPosition
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.platform_files import platform_folder
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.indexer.fixtures import Place
from tests.support.orders.shop import Shop
from tests.support.streams.changes import ITEMS, Json, Reader, all_items, delete, load, upsert

CHEAP: Json = {"platform": 730, "filters": {"price": {"max": 10}}}


def kinds(changes: list[Json]) -> list[tuple[int, str]]:
    return [(change["id"], change["change"]) for change in changes]


async def test_upserts_and_deletes_are_changes_by_what_the_filters_find_before_and_after(
    app: RunningApp, place: Place
) -> None:
    everything, cheap = await Reader(app.client).begin(), await Reader(app.client, CHEAP).begin()
    await upsert(place, simple_item(1001, 5), simple_item(1002, 50))
    assert kinds(await everything.until(2)) == [(1001, "listed"), (1002, "listed")]
    assert kinds(await cheap.until(1)) == [(1001, "listed")]
    await upsert(place, simple_item(1001, 6), simple_item(1002, 7))
    assert kinds(await everything.until(2)) == [(1001, "changed"), (1002, "changed")]
    assert kinds(await cheap.until(2)) == [(1001, "changed"), (1002, "listed")]
    await upsert(place, simple_item(1001, 60))
    await upsert(place, simple_item(1002, 7))  # the same again
    assert kinds(await cheap.until(1)) == [(1001, "gone")]
    await delete(place, 1001, 1002, 999_999)
    assert sorted(kinds(await everything.until(3))) == [(1001, "changed"), (1001, "gone"), (1002, "gone")]
    assert kinds(await cheap.until(1)) == [(1002, "gone")]
    for reader in (everything, cheap):
        await reader.agrees()


async def test_an_order_is_gone_and_its_release_listed_with_the_bytes_of_a_search(
    app: RunningApp,
) -> None:
    shop = Shop(app)
    item = next(item for item in ITEMS if item["price"] is not None)
    reader = await Reader(app.client, {"platform": 730}).begin()
    order = await shop.placed(item["id"])
    assert kinds(await reader.until(1)) == [(item["id"], "gone")]
    bookmark = reader.next
    await shop.move(order["id"], "created", "cancelled")
    assert kinds(await reader.until(1)) == [(item["id"], "listed")]
    feed = await app.client.post("/v1/gear/changes", json={"since": bookmark})
    search = await app.search({"filters": {"ids": [item["id"]]}})
    gear = search.content.removeprefix(b'{"status":"success","gear":[').removesuffix(b'],"total":1}')
    assert orjson.loads(gear)["id"] == item["id"]
    assert b'"gear":' + gear in feed.content


async def test_a_reload_adds_only_what_differs(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    await load(place, ITEMS)
    removed, changed, *others = ITEMS
    await load(place, [*others, {**changed, "price": 77.5}, simple_item(5000)])
    expected = {removed["id"]: "gone", changed["id"]: "changed", 5000: "listed"}
    assert dict(kinds(await reader.until(3))) == expected
    await load(place, ITEMS)
    assert dict(kinds(await reader.until(3))) == {removed["id"]: "listed", changed["id"]: "changed", 5000: "gone"}
    await reader.agrees()


async def test_texts_and_forced_filters_hold(app: RunningApp, place: Place) -> None:
    item = simple_item(2001, 5, "AWP | Asiimov (Field-Tested)") | {"details": {"weapon": "AWP"}}
    filters = {"weapon": ["AWP"]}
    token = await new_token(app.settings.database_url, "search", filters=orjson.dumps(filters).decode())
    reader = await Reader(app.client, {"platform": 730, "query": "asiimov"}).begin()
    transport = httpx.ASGITransport(app.app)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://gear.test", headers=headers) as client:
        forced = await Reader(client, {"platform": 730}).begin()
        await upsert(place, item, simple_item(2002, 5, "P90 | Asiimov"), simple_item(2003, 5, "P90 | Trigon"))
        assert kinds(await reader.until(2)) == [(2001, "listed"), (2002, "listed")]
        assert kinds(await forced.until(1)) == [(2001, "listed")]
        other = await client.post("/v1/gear/changes", json={"since": reader.next, "filters": {"ids": [2002]}})
        assert other.json()["changes"] == []
        await upsert(place, {**item, "details": {"weapon": "AK-47"}})
        assert kinds(await forced.until(1)) == [(2001, "gone")]


async def test_pages_lead_from_the_first_change_to_the_last(app: RunningApp, place: Place) -> None:
    reader = Reader(app.client, limit=3)
    await reader.begin()
    await upsert(place, *(simple_item(number) for number in range(3001, 3011)))
    second = Reader(app.client, items=dict(reader.items), next=reader.next)
    assert len(await second.until(10)) == 10
    first = await reader.ask(since=reader.next, limit=3)
    assert (len(first["changes"]), first["more"]) == (3, True)
    assert await reader.until(10) == second.changes
    assert (await reader.ask(since=reader.next))["changes"] == []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app.app), base_url="http://gear.test") as client:
        error_of(await client.post("/v1/gear/changes", json={}), "unauthorized")


async def test_bookmarks_that_are_none_are_refused_and_unknown_ones_have_expired(app: RunningApp) -> None:
    bookmark: str = (await Reader(app.client).begin()).next or ""
    for since in ("x", "0123456789abcdef", bookmark + "x", "-1.1", ""):
        assert fields_of(await app.client.post("/v1/gear/changes", json={"since": since}), "validation_failed")
    segment, _, place = bookmark.partition(".")
    for since in (f"{'0' * 16}.0", f"{segment}.{int(place) + 1}"):
        error_of(await app.client.post("/v1/gear/changes", json={"since": since}), "bookmark_expired")
    for body in ({"wait": 31}, {"limit": 1001}, {"limit": 0}, {"sort": "newest"}):
        fields = fields_of(await app.client.post("/v1/gear/changes", json=body), "validation_failed")
        assert fields == list(body)
    error_of(await app.client.get("/v1/gear/changes"), "method_not_allowed")
    stream = {"Accept": "text/event-stream"}
    waiting = await app.client.post("/v1/gear/changes", json={"wait": 1}, headers=stream)
    assert fields_of(waiting, "validation_failed") == ["wait"]


async def test_a_reader_waits_until_the_first_change_or_the_end_of_its_time(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client, {"platform": 730, "filters": {"ids": [4001]}}).begin()
    assert await reader.read(wait=1) == []
    await upsert(place, simple_item(4000))  # none of its own: it waits on
    assert await reader.read(wait=1) == []
    await upsert(place, simple_item(4001))
    assert kinds(await reader.until(1)) == [(4001, "listed")]


async def test_a_page_that_was_read_for_others_takes_nobody_back(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine's answer to those who wait is slow: meanwhile another reader has read on, and then waits as well."""
    first, second = await Reader(app.client).begin(), await Reader(app.client).begin()
    change_log = app.app.state.services[ChangeFeed].log
    read, is_read, may_respond = change_log.read, asyncio.Event(), asyncio.Event()

    async def slowly(feed: feeds.Feed, subscription: Subscription, since: LogPosition, limit: int) -> ChangePage:
        page: ChangePage = await read(feed, subscription, since, limit)
        if limit == MAX_CHANGES and page.changes:
            is_read.set()
            await may_respond.wait()
        return page

    monkeypatch.setattr(change_log, "read", slowly)
    waiting = asyncio.create_task(first.read(wait=30))
    await app.client.put("/v1/catalogue/730/items", json=[simple_item(1001)])
    await is_read.wait()
    await app.client.put("/v1/catalogue/730/items", json=[simple_item(1002)])
    listed: list[Json] = []
    while len(listed) < 2:  # without waiting: those who wait do so for the slow answer
        listed += await second.read()
    assert kinds(listed) == [(1001, "listed"), (1002, "listed")]
    reading = asyncio.create_task(second.read(wait=3))
    groups = app.app.state.services[ChangeFeed].tail._groups
    await until(lambda: [group.readers for group in groups.values()] == [2])
    may_respond.set()
    assert await reading == []
    assert await second.read() == []
    assert kinds([*await waiting, *await first.read()]) == [(1001, "listed"), (1002, "listed")]


async def test_a_question_that_fails_is_its_readers_alone(app: RunningApp, place: Place) -> None:
    reader = await Reader(app.client).begin()
    tail = app.app.state.services[ChangeFeed].tail
    clauses: list[Json] = [
        {"range": {"price.ascending": {"gte": 10**19}}},  # the engine refuses it
        {"range": {"price.ascending": {"gte": 10**25}}},  # it cannot be sent
    ]
    now = (await tail.recorded()).end
    failing = [
        asyncio.create_task(tail.next_page(Subscription((str(number), b""), clause, (730,), False), now, 100, 30))
        for number, clause in enumerate(clauses)
    ]
    waiting = asyncio.create_task(reader.read(wait=30))
    with capture_logs() as logs:
        await upsert(place, simple_item(1001))
        assert kinds(await waiting) == [(1001, "listed")]
        refused, unsent = await asyncio.gather(*failing, return_exceptions=True)
    assert isinstance(refused, TransportError)
    assert isinstance(unsent, TypeError)
    assert sum("a request of the change feed fails" in line["event"] for line in logs) == 2
    waiting = asyncio.create_task(reader.read(wait=30))
    await upsert(place, simple_item(1002))
    assert kinds(await waiting) == [(1002, "listed")]


async def test_several_platforms_are_one_feed_and_prices_of_several_currencies_do_not_compare(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    files = platform_folder(tmp_path, (1, "dota", "EUR", 2))
    settings: Settings = settings_for(opensearch_url, index_prefix, tmp_path, platform_files=files)
    platforms = {platform.id: platform for platform in read_platforms(files)}
    put_index(settings, platforms[730], [simple_item(1)])
    async with running(settings) as app:
        reader = Reader(app.client)
        reader.next = (await reader.ask())["next"]
        assert fields_of(
            await app.client.post("/v1/gear/changes", json=CHEAP | {"platform": None}), "validation_failed"
        )
        put_index(settings, platforms[1], [simple_item(1), simple_item(2)])  # loaded for the first time
        response: dict[str, Any] = {"changes": []}
        while len(response["changes"]) < 2:
            response = await reader.ask(since=reader.next, wait=5)
        changes = [(change["platform"], change["id"], change["change"]) for change in response["changes"]]
        assert changes == [(1, 1, "listed"), (1, 2, "listed")]
        other = Reader(app.client, {"platform": 730})
        assert (await other.ask(since=reader.next))["changes"] == []
        assert await all_items(app.client, {"platform": 1}) != {}
