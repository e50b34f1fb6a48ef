"""What comes to match a saved search is told once, whatever changes it, and nothing else is."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import orjson
import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection
from standardwebhooks import Webhook
from structlog.testing import capture_logs

from api.changes.entries import Change, changes_of
from api.engine.feed import LogEntry
from api.engine.responses import SearchEngine
from api.saved_searches import matcher
from api.saved_searches.compiled import Compiled, compiled
from api.saved_searches.matcher import MatcherLimits
from api.saved_searches.prefilter import Batch, Fields, Prefilter
from mappings.platforms import Platforms
from store.saved_searches import matching, searches
from store.saved_searches.searches import SavedSearch
from store.schema import tokens
from tests.support.api.catalogue import simple_item
from tests.support.api.waiting import until
from tests.support.app import RunningApp
from tests.support.indexer.fixtures import Place
from tests.support.orders.shop import Shop
from tests.support.services.receiver import Receiver
from tests.support.streams.changes import ITEMS, Reader, load
from tests.support.streams.saved_searches import gap_of, put, received, saved, until_called_back


async def test_an_item_that_is_listed_calls_back_within_two_seconds_and_is_signed(app: RunningApp) -> None:
    with Receiver() as receiver:
        search = await saved(
            app.client, receiver, "cheap", platform=730, query="redline", filters={"price": {"max": 5}}
        )
        await put(app, simple_item(1001, 4.5), simple_item(1002, 6.0), simple_item(1003, 4.0, "AWP | Asiimov"))
        started = time.monotonic()
        [change] = await until_called_back(app, receiver, 1001)
        [received] = receiver.received
        assert received.at - started < 2
    async with Shop(app).store.reading() as connection:
        secret = (await connection.execute(select(tokens.c.webhook_secret))).scalars().first()
    assert secret is not None
    body = Webhook(secret).verify(received.body, received.headers)
    assert body["type"] == "search.matched"
    assert body["data"]["search"] == {"id": search["id"], "name": "cheap"}
    assert change["change"] == "listed"
    assert change["platform"] == 730
    assert change["gear"]["price"] == 4.5


async def test_a_change_calls_back_when_the_item_comes_to_match_and_not_again(app: RunningApp) -> None:
    with Receiver() as receiver:
        await saved(app.client, receiver, platform=730, filters={"price": {"max": 5}, "ids": [1001, 1002]})
        await put(app, simple_item(1001, 9), simple_item(1002, 4))
        [first] = await until_called_back(app, receiver, 1002)
        assert first["change"] == "listed"
        await put(app, simple_item(1001, 5), simple_item(1002, 3))
        [_, second] = await until_called_back(app, receiver, 1001, 1002)
        assert (second["id"], second["change"]) == (1001, "changed")
        await put(app, simple_item(1001, 6))
        await until_called_back(app, receiver, 1001, 1002)
        await put(app, simple_item(1001, 2))
        await until_called_back(app, receiver, 1001, 1001, 1002)


async def test_a_reload_tells_only_what_is_new(app: RunningApp, place: Place) -> None:
    with Receiver() as receiver:
        await saved(app.client, receiver)
        await load(place, ITEMS)
        await put(app, simple_item(1001))
        await until_called_back(app, receiver, 1001)
        await load(place, [*ITEMS, simple_item(1001), simple_item(1002)])
        await until_called_back(app, receiver, 1001, 1002)


async def test_an_order_that_releases_its_item_tells_it(app: RunningApp) -> None:
    shop, number = Shop(app), next(item["id"] for item in ITEMS if item["price"])
    with Receiver() as receiver:
        await saved(app.client, receiver, filters={"ids": [number]})
        reader = await Reader(app.client, {"filters": {"ids": [number]}}).begin()
        order = await shop.placed(number)
        [removal] = await reader.until(1)  # the log has it: what comes and goes between two looks is no change
        assert removal["change"] == "gone"
        assert received(receiver) == []
        response = await app.client.post(f"/v1/orders/{order['id']}/transitions", json={"to": "cancelled"})
        assert response.status_code == 200, response.text
        [change] = await until_called_back(app, receiver, number)
        assert change["change"] == "listed"


@pytest.mark.parametrize(
    "app", [MatcherLimits(max_changes=40, max_matches=30, max_changes_a_callback=7)], indirect=True
)
async def test_many_matches_are_several_callbacks_in_order(app: RunningApp) -> None:  # of more than one run, too
    numbers = list(range(1000, 1100))
    with Receiver() as receiver:
        await saved(app.client, receiver, filters={"name": ["Many"]})
        await put(app, *(simple_item(number, 1, "Many") for number in numbers))
        changes = await until_called_back(app, receiver, *numbers)
    assert [change["id"] for change in changes] == numbers
    assert len({received.headers["webhook-id"] for received in receiver.received}) >= len(numbers) / 7


async def test_a_matcher_that_stops_before_its_commit_tells_once(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops = iter([True, True, True])
    queue_callbacks = matching.queue_callbacks

    async def stopping(connection: AsyncConnection, matches: Mapping[str, Sequence[bytes]], now: datetime) -> None:
        await queue_callbacks(connection, matches, now)
        if next(stops, False):
            raise ConnectionResetError

    monkeypatch.setattr(matching, "queue_callbacks", stopping)
    with Receiver() as receiver:
        await saved(app.client, receiver, filters={"ids": [1001, 1002]})
        await put(app, simple_item(1001), simple_item(1002))
        await until_called_back(app, receiver, 1001, 1002)
        assert next(stops, None) is None


@pytest.mark.parametrize("price", [10**19, 10**25], ids=["that the engine refuses", "that cannot be sent"])
async def test_a_search_that_fails_keeps_no_other_from_its_matches(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch, price: int
) -> None:
    def with_a_bad_one(
        engine: SearchEngine, platforms: Platforms, fields: Fields, search: SavedSearch
    ) -> Compiled | None:
        prepared = compiled(engine, platforms, fields, search)
        if prepared is None or search.name != "bad":
            return prepared
        return replace(prepared, clause=orjson.dumps({"range": {"price.ascending": {"gte": price}}}))

    monkeypatch.setattr("api.saved_searches.compiled.compiled", with_a_bad_one)
    with Receiver() as receiver:
        bad = await saved(app.client, receiver, "bad")
        for number in (1001, 1002):
            await saved(app.client, receiver, f"{number}", filters={"ids": [number]})
        await put(app, simple_item(1001), simple_item(1002))
        await until_called_back(app, receiver, 1001, 1002)
    assert await gap_of(app, bad) is not None


@pytest.mark.parametrize("app", [MatcherLimits(max_failures=3)], indirect=True)
async def test_a_change_that_fails_keeps_no_other_from_its_matches(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_bad_one(entries: Sequence[LogEntry], limit: int, *, with_platform: bool) -> tuple[list[Change], bool]:
        if any(entry.id == 1002 for entry in entries):
            raise KeyError(1002)
        return changes_of(entries, limit, with_platform=with_platform)

    monkeypatch.setattr(matcher, "changes_of", with_a_bad_one)
    with Receiver() as receiver:
        search = await saved(app.client, receiver, filters={"ids": list(range(1001, 1006))})
        with capture_logs() as logs:
            await put(app, *(simple_item(number) for number in range(1001, 1006)))
            await until_called_back(app, receiver, 1001, 1003, 1004, 1005)
    assert await gap_of(app, search) is not None
    assert [entry["event"].partition(":")[0] for entry in logs if "change cannot" in entry["event"]] == [
        "a change cannot be matched"
    ]


async def test_searches_that_cannot_be_prefiltered_are_matched_by_the_engine_alone(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(prefilter: Prefilter, before: Batch, after: Batch) -> int:
        raise KeyError(after.all)

    monkeypatch.setattr(matcher, "new_candidates", failing)
    with Receiver() as receiver:
        search = await saved(app.client, receiver, filters={"ids": [1001, 1002]})
        await put(app, simple_item(1001), simple_item(1002), simple_item(1003))
        await until_called_back(app, receiver, 1001, 1002)
    assert await gap_of(app, search) is None


@pytest.mark.parametrize("app", [MatcherLimits(max_read=1)], indirect=True)
async def test_texts_that_are_being_read_when_the_vocabulary_changes_are_read_anew(
    app: RunningApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_ids, is_read, has_changed = searches.with_ids, asyncio.Event(), asyncio.Event()

    async def slowly(connection: AsyncConnection, ids: Sequence[str]) -> list[SavedSearch]:
        if is_read.is_set():  # one of the two is known
            await has_changed.wait()
        is_read.set()
        return await with_ids(connection, ids)

    monkeypatch.setattr(searches, "with_ids", slowly)
    with Receiver() as receiver:
        for name in ("one", "other"):
            await saved(app.client, receiver, name, query="zweihorn")
        await put(app, simple_item(1001, 5, "AK-47 | Redline"))
        await is_read.wait()
        entry = {"term": {"spellings": ["zweihorn"], "words": "dragon lore"}}
        assert (await app.client.post("/v1/vocabulary", json=entry)).status_code == 201
        await put(app, simple_item(1002, 5, "AWP | Dragon Lore"))

        async def applies() -> bool:
            response = await app.search({"query": "zweihorn"})
            return [item["id"] for item in response.json()["gear"]] == [1002]

        await until(applies)
        has_changed.set()
        await until_called_back(app, receiver, 1002, 1002)
