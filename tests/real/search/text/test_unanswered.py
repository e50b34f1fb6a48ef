"""What buyers searched for in vain is counted for operators, whoever searched, and never at a search's cost."""

import json
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import make_url

from api.background.failing_rows import FailingRows
from api.retention import apply_retention
from api.search.service import SearchServices
from api.search.unanswered import MAX_BUFFERED, UnansweredSearches
from mappings.platforms import read_platforms
from store import unanswered_searches
from store.connection.engine import Store
from store.connection.errors import StoreError
from store.unanswered_searches import SearchedText
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.exposition import samples
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.indices import drop_indices
from tests.support.services.processes import ran

ITEMS = [
    {**simple_item(1, 900.0, "AWP | Dragon Lore (Factory New)"), "details": {"weapon": "AWP"}},
    {**simple_item(2, 90.0, "AWP | Asiimov (Field-Tested)"), "details": {"weapon": "AWP"}},
]


@pytest.fixture
async def app(opensearch_url: str, tmp_path: Path) -> AsyncIterator[RunningApp]:
    """The app with two items."""
    settings = settings_for(opensearch_url, f"t{secrets.token_hex(5)}", tmp_path)
    async with running(settings) as started:
        put_index(settings, next(iter(read_platforms())), ITEMS)
        try:
            yield started
        finally:
            drop_indices(opensearch_url, settings.index_prefix)


async def search(app: RunningApp, query: str, **more: Any) -> int:
    """Searches; returns the total."""
    response = await app.search({"query": query, **more})
    assert response.status_code == 200, response.text
    return int(response.json()["total"])


async def counted(app: RunningApp) -> dict[str, tuple[str, int]]:
    """The texts that `gear-api searches` lists, with their readings and counts."""
    await app.app.state.services[SearchServices].unanswered.flush()
    url = app.settings.database_url
    folder = Path(make_url(url).database or "").parent
    ended = await ran(folder, {"GEAR_DATABASE_URL": url}, "searches", "--unanswered", "--json")
    assert ended.code == 0, ended.errors
    today = datetime.now(UTC).date().isoformat()
    report = json.loads(ended.printed)
    assert all(each["platform"] == 730 and each["lastDay"] == today for each in report)
    return {each["text"]: (each["reading"], each["count"]) for each in report}


async def dropped(app: RunningApp) -> dict[str, float]:
    """The metric of what is not kept, by its reason."""
    text = (await app.client.get("/metrics")).text
    return {
        dict(labels)["reason"]: value
        for (name, labels), value in samples(text).items()
        if name == "gear_unanswered_searches_dropped_total"
    }


async def test_texts_without_an_answer_are_counted_and_no_others(app: RunningApp) -> None:
    for _ in range(3):  # the second and the third are cached
        assert await search(app, " Zweihorn  QUX") == 0
    assert await search(app, "awp zweihorn") == 2, "a partial answer"
    assert await search(app, "awp dragom") == 1, "a typo"
    assert await search(app, "dragon lore") == 1
    assert await search(app, "asiimov", filters={"price": {"max": 1}}) == 0, "the words are known"
    assert await search(app, "asiimov", filters={"exterior": ["Battle-Scarred"]}) == 0
    assert await search(app, "zweihorn qux", page=2) == 0, "one search, not two"
    assert await counted(app) == {
        "zweihorn qux": ("none", 3),
        "awp zweihorn": ("partial", 1),
        "awp dragom": ("typos", 1),
    }
    text = (await app.client.get("/metrics")).text
    assert samples(text)["gear_unanswered_searches_total", frozenset({("reading", "none")})] == 3


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("zweihorn jane.doe@example.com", "personal"),
        ("zweihorn +49 (170) 123-4567", "personal"),
        ("zweihorn 76561198000000000", "personal"),
        ("zweihorn " * 12, "long"),
    ],
)
async def test_what_may_name_a_person_is_not_stored(app: RunningApp, query: str, reason: str) -> None:
    await search(app, query)
    assert await counted(app) == {}
    assert (await dropped(app))[reason] == 1


async def test_what_a_token_may_not_see_is_no_missing_word(app: RunningApp) -> None:
    token = await new_token(app.settings.database_url, "search", filters='{"weapon": ["AK-47"]}')
    headers = {"Authorization": f"Bearer {token}"}
    response = await app.client.post("/v1/gear/search", json={"query": "asiimov"}, headers=headers)
    assert response.json()["total"] == 0
    assert await counted(app) == {}


async def test_a_full_buffer_drops_counts_and_says_so(app: RunningApp) -> None:
    unanswered: UnansweredSearches = app.app.state.services[SearchServices].unanswered
    for number in range(MAX_BUFFERED + 2):
        unanswered.add([730], f"word {number}", "none")
    assert (await dropped(app))["full"] == 2
    unanswered.add([730], "word 0", "none")
    assert (await dropped(app))["full"] == 2, "a text that is there goes on counting"


async def test_a_store_that_fails_costs_counts_and_no_search(app: RunningApp) -> None:
    store = Store(app.settings.database_url)
    try:
        async with store.transaction() as connection:
            await connection.exec_driver_sql("ALTER TABLE unanswered_searches RENAME TO elsewhere")
        assert await search(app, "zweihorn qux") == 0
        with pytest.raises(StoreError):
            await app.app.state.services[SearchServices].unanswered.flush()
        assert (await dropped(app))["store"] == 1
        async with store.transaction() as connection:
            await connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO unanswered_searches")
    finally:
        await store.close()
    assert await search(app, "zweihorn quux") == 0
    assert await counted(app) == {"zweihorn quux": ("none", 1)}


async def test_counts_are_erased_after_30_days(app: RunningApp) -> None:
    store, now = Store(app.settings.database_url), datetime.now(UTC)
    counts = {SearchedText(730, "zweihorn", "none"): 1}
    try:
        async with store.transaction() as connection:
            for days in (0, 29, 31):
                await unanswered_searches.add(connection, (now - timedelta(days=days)).date(), counts)
        await apply_retention(store, now, None, FailingRows("test"))
        async with store.reading() as connection:
            (left,) = await unanswered_searches.read(connection, (now - timedelta(days=60)).date())
    finally:
        await store.close()
    assert left.count == 2


async def test_a_worker_that_stops_keeps_its_counts(opensearch_url: str, tmp_path: Path) -> None:
    settings = settings_for(opensearch_url, f"t{secrets.token_hex(5)}", tmp_path)
    try:
        async with running(settings) as app:
            put_index(settings, next(iter(read_platforms())), ITEMS)
            await search(app, "zweihorn qux")
        store = Store(settings.database_url)
        async with store.reading() as connection:
            (left,) = await unanswered_searches.read(connection, datetime.now(UTC).date() - timedelta(days=1))
        await store.close()
    finally:
        drop_indices(opensearch_url, settings.index_prefix)
    assert (left.text, left.count) == ("zweihorn qux", 1)
