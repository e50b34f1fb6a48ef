"""A cursor gives every hit once, to the very end, whatever happens to the index meanwhile; or a clear 410."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection

from api.background.tasks import BackgroundTasks
from api.search.pagination import point_in_time
from api.search.pagination.cursor import Cursor
from api.search.pagination.point_in_time import PointsInTime
from api.search.service import SearchServices
from mappings.connection import connect
from mappings.fields import SORTS
from mappings.platforms import read_platforms
from store.connection.engine import Store
from tests.support.api.catalogue import CS2, put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp, running, settings_for
from tests.support.examples import examples
from tests.support.indices import new_prefix
from tests.support.search import oracle
from tests.support.search.cursor_pages import ids, keep_for, pages, points_in_time_of, started
from tests.support.search.fixtures import SearchedItems
from tests.support.search.items import make_items
from tests.support.store.migrated import migrated

ITEMS = make_items(300, seed=11)
ANY_ORDER = ("relevance",)
PAGE = 23


@pytest.fixture(scope="module")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """The app with 300 items that stay as they are."""
    folder = tmp_path_factory.mktemp("cursor")
    with new_prefix(opensearch_url) as prefix:
        async with running(settings_for(opensearch_url, prefix, folder)) as started_app:
            put_index(started_app.settings, CS2, ITEMS)
            yield started_app


@pytest.mark.parametrize("sort", [sort.name for sort in SORTS])
@pytest.mark.parametrize(
    "body",
    [{}, {"query": "asiimov"}, {"query": "asimov fiel"}, {"filters": {"price": {"min": 1}}}],
    ids=json.dumps,
)
async def test_a_cursor_gives_each_hit_once_in_the_order_of_the_sort(
    app: RunningApp, sort: str, body: dict[str, Any]
) -> None:
    engine_requests = {**body, "sort": sort}
    hits = oracle.hits_of(ITEMS, engine_requests)
    item_ids, totals = await ids(app.search, {**engine_requests, "limit": PAGE})
    assert totals == {len(hits)}
    if sort in ANY_ORDER and "query" in body:
        assert sorted(item_ids) == sorted(item["id"] for item in hits)
    else:
        ordered = oracle.in_order(hits, "price_asc" if sort in ANY_ORDER else sort)
        assert item_ids == [item["id"] for item in ordered]


@pytest.mark.parametrize("sort", [sort.name for sort in SORTS])
@pytest.mark.parametrize("body", [{}, {"query": "asimov fiel"}, {"filters": {"price": {"min": 1}}}], ids=json.dumps)
async def test_a_cursor_gives_each_name_once_to_the_last(app: RunningApp, sort: str, body: dict[str, Any]) -> None:
    engine_requests = {**body, "sort": sort, "groupBy": "name"}
    heads = oracle.heads(oracle.hits_of(ITEMS, engine_requests))
    cards = [card async for page in pages(app.search, {**engine_requests, "limit": PAGE}) for card in page["gear"]]
    assert Counter(card["name"] for card in cards) == Counter(head["name"] for head in heads)
    for card in cards:
        assert card["offers"] == oracle.offers(ITEMS, engine_requests, card["name"])
    paged: list[str] = []
    for number in range(1, len(cards) // PAGE + 2):
        paged += [
            card["name"]
            for card in (await app.search({**engine_requests, "limit": PAGE, "page": number})).json()["gear"]
        ]
    assert [card["name"] for card in cards] == paged, "in the order of the pages"


async def test_a_cursor_over_names_shows_offers_as_they_are_now(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    offered = [simple_item(number, number, name) for number, name in enumerate("aabbccdd", start=1)]
    async with running(settings_for(opensearch_url, index_prefix, tmp_path)) as app:
        put_index(app.settings, CS2, offered)
        body = {"groupBy": "name", "limit": 1}
        first = (await app.search({**body, "cursor": "*"})).json()
        # of b the cheapest goes, of c both; e comes
        put_index(app.settings, CS2, [*offered[:2], offered[3], *offered[6:], simple_item(9, 9, "e")])
        rest = [page async for page in pages(app.search, body, first["nextCursor"])]
    assert [(card["name"], card["id"], card["offers"]["count"]) for page in rest for card in page["gear"]] == [
        ("b", 4, 1),
        ("d", 7, 2),
    ]
    assert [(len(page["gear"]), page["total"]) for page in rest] == [(1, 4), (0, 4), (1, 4)]


async def test_each_page_of_a_cursor_has_the_facets_of_all_hits(app: RunningApp) -> None:
    body = {"filters": {"type": ["Knife"]}, "facets": ["type", "price"], "limit": 20}
    expected = oracle.facets(ITEMS, body)
    facets = [page["facets"] async for page in pages(app.search, body)]
    assert len(facets) > 1
    assert facets == [expected] * len(facets)


@pytest.mark.parametrize("limit", [99, 100])
async def test_the_last_page_says_that_it_is(app: RunningApp, limit: int) -> None:
    sizes = [len(page["gear"]) async for page in pages(app.search, {"limit": limit})]
    assert sum(sizes) == 300
    assert 0 not in sizes


async def test_a_cursor_over_nothing_ends_at_once(app: RunningApp) -> None:
    response = await app.search({"query": "nothing has this", "cursor": "*"})
    assert response.json() == {"status": "success", "gear": [], "total": 0, "nextCursor": None}


async def test_the_limit_may_change_on_the_way_and_nothing_else(app: RunningApp) -> None:
    body = {"query": "asiimov", "sort": "price_asc"}
    cursor = await started(app, {**body, "limit": 5})
    response = await app.search({**body, "limit": 9, "cursor": cursor, "page": None, "filters": {}})
    assert len(response.json()["gear"]) == 9
    for other in ({"query": "fade"}, {"sort": "price_desc"}, {"platform": 730}, {"filters": {"weapon": ["P90"]}}):
        assert fields_of(await app.search({**body, **other, "cursor": cursor}), "validation_failed") == ["cursor"]
    for page in (1, 2):
        assert fields_of(await app.search({**body, "cursor": cursor, "page": page}), "validation_failed") == ["page"]


@pytest.mark.parametrize("cursor", ["", "**", "x", " *", "nextCursor", "A" * 200, "\0", "ü", 5, True, [], {}])
async def test_what_is_no_cursor_is_a_422(app: RunningApp, cursor: Any) -> None:
    assert fields_of(await app.search({"cursor": cursor}), "validation_failed") == ["cursor"]


async def test_a_page_beyond_the_window_is_pointed_to_cursors(app: RunningApp) -> None:
    error = error_of(await app.search({"page": 101, "limit": 100}), "page_window_exceeded")
    assert '"cursor": "*"' in error["message"]


async def test_each_page_of_a_cursor_explains_its_text(app: RunningApp) -> None:
    async for response in pages(app.search, {"query": "asiimvo", "limit": 7, "explain": True}):
        assert response["interpretation"]["reading"] == "typos"
    response = (await app.search({"query": "nothing has this", "cursor": "*"})).json()
    assert response == {"status": "success", "gear": [], "total": 0, "nextCursor": None}


async def test_the_same_cursor_gives_the_same_page_again(app: RunningApp) -> None:
    """So a client whose answer was lost just asks again, on the last page too."""
    body = {"limit": 100}
    cursor = await started(app, body)
    last = (await app.search({**body, "cursor": cursor})).json()["nextCursor"]
    for sent in (cursor, last):
        responses = [(await app.search({**body, "cursor": sent})).json() for _ in range(3)]
        assert responses[0]["gear"] == responses[1]["gear"] == responses[2]["gear"] != []


async def test_a_cursor_works_on_every_worker_and_for_every_token(app: RunningApp) -> None:
    async with running(app.settings) as second:
        assert second.token != app.token
        workers = [second.search, app.search]

        async def by_turns(body: dict[str, Any]) -> httpx.Response:
            workers.reverse()
            return await workers[0](body)

        item_ids, _ = await ids(by_turns, {"limit": 13, "sort": "name_asc"})
    assert item_ids == [item["id"] for item in oracle.in_order(ITEMS, "name_asc")]


async def test_a_cursor_of_another_database_is_a_422(app: RunningApp, tmp_path: Path, opensearch_url: str) -> None:
    async with running(settings_for(opensearch_url, app.settings.index_prefix, tmp_path)) as foreign:
        cursor = await started(foreign, {})
    assert fields_of(await app.search({"cursor": cursor}), "validation_failed") == ["cursor"]


def test_a_changed_cursor_is_a_422(searched_items: SearchedItems) -> None:
    def engine_requests(cursor: str) -> httpx.Response:
        return searched_items.client.post("/v1/gear/search", json={"cursor": cursor})

    first: str = engine_requests("*").json()["nextCursor"]
    texts = st.text(max_size=2) | st.text("Aa-_=+/", max_size=2)

    @settings(max_examples=examples(20, 80), suppress_health_check=list(HealthCheck))
    @given(place=st.integers(0, len(first)), cut=st.integers(0, 3), put=texts)
    def ask(place: int, cut: int, put: str) -> None:
        changed = first[:place] + put + first[place + cut :]
        if changed not in (first, "*"):
            assert fields_of(engine_requests(changed), "validation_failed") == ["cursor"]

    ask()


async def test_an_unused_cursor_expires(app: RunningApp) -> None:
    try:
        keep_for(app.app, 0.5)
        body = {"limit": 50}
        cursor = await started(app, body)

        async def has_expired() -> bool:
            return (await app.search({**body, "cursor": cursor})).status_code == 410

        await until(has_expired)
        error_of(await app.search({**body, "cursor": cursor}), "cursor_expired")
    finally:
        keep_for(app.app, point_in_time.KEEP_SECONDS)
    assert point_in_time.KEEP_SECONDS == 300


async def test_a_cursor_that_is_used_all_the_time_ends_too(app: RunningApp) -> None:
    """Else one page every few minutes would keep the files of a replaced index for ever."""
    try:
        keep_for(app.app, point_in_time.KEEP_SECONDS, max_age_seconds=1.0)
        body = {"limit": 1}
        cursor = await started(app, body)
        began = asyncio.get_running_loop().time()
        while (response := await app.search({**body, "cursor": cursor})).status_code == 200:
            cursor = response.json()["nextCursor"]
            assert asyncio.get_running_loop().time() - began < 10
            await asyncio.sleep(0.1)
        assert "started more than" in error_of(response, "cursor_expired")["message"]
    finally:
        keep_for(app.app, point_in_time.KEEP_SECONDS)
    assert point_in_time.MAX_AGE_SECONDS == 6 * 3600


async def test_many_cursors_share_few_views(app: RunningApp) -> None:
    """The engine takes 300 views: a crowd of starts that nobody continues must not use them up."""
    keep_for(app.app, point_in_time.KEEP_SECONDS)
    body = {"limit": 50}
    # a few at a time: of more at once some are refused as too many
    crowd: list[str] = []
    while len(crowd) < 3 * point_in_time.MAX_OWN:
        crowd += await asyncio.gather(*(started(app, body) for _ in range(3)))
    points_in_time = await points_in_time_of(app.app, crowd)
    assert point_in_time.MAX_OWN < len(points_in_time) <= point_in_time.MAX_OWN + 10
    item_ids, _ = await ids(app.search, {"limit": 100, "sort": "float_asc"})
    assert item_ids == [item["id"] for item in oracle.in_order(ITEMS, "float_asc")]
    # a walk that came to its end left the view that it shared to the others
    last = crowd[-1]
    assert [len(page["gear"]) async for page in pages(app.search, body, last)] == [50] * 5
    client = connect(app.settings)
    try:
        client.delete_pit(body={"pit_id": sorted(points_in_time)})
    finally:
        client.close()
    for cursor in crowd:
        error_of(await app.search({**body, "cursor": cursor}), "cursor_expired")
    keep_for(app.app, point_in_time.KEEP_SECONDS)


async def test_a_cursor_at_its_end_closes_its_point_in_time(app: RunningApp) -> None:
    keep_for(app.app, point_in_time.KEEP_SECONDS, grace_seconds=0.0)
    body = {"limit": 100}
    cursor = await started(app, body)
    assert [len(page["gear"]) async for page in pages(app.search, body, cursor)] == [100, 100]
    assert (await app.search({**body, "cursor": cursor})).status_code == 200
    await started(app, body)  # whoever comes next clears up
    error_of(await app.search({**body, "cursor": cursor}), "cursor_expired")


async def test_a_restart_ends_no_cursor_and_closes_those_that_were_read(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    (platform,) = read_platforms()
    put_index(settings, platform, map(simple_item, range(5)))
    body = {"limit": 2}
    async with running(settings) as short_lived:
        cursor, finished = [await started(short_lived, body) for _ in range(2)]
        read = await points_in_time_of(short_lived.app, [finished])
        assert [len(page["gear"]) async for page in pages(short_lived.search, body, finished)] == [2, 1]
        assert read <= open_pits(opensearch_url)
    assert not read & open_pits(opensearch_url)
    async with running(settings) as restarted:
        assert [len(page["gear"]) async for page in pages(restarted.search, body, cursor)] == [2, 1]


class _SlowCommit(Store):
    """A store whose first transaction is committed only after a reader has looked for what it writes."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.written, self.looked = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        async with super().transaction() as connection:
            yield connection
            self.written.set()
            await self.looked.wait()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        async with super().reading() as connection:
            yield connection
            if self.written.is_set():
                self.looked.set()


async def test_cursors_issued_while_the_first_key_is_made_have_that_key(app: RunningApp, tmp_path: Path) -> None:
    url = f"sqlite+aiosqlite:///{tmp_path}/gear.db"
    await migrated(url)
    store = _SlowCommit(url)
    try:
        worker = PointsInTime(app.app.state.services[SearchServices].engine, store, BackgroundTasks())
        cursor = Cursor("view", False, 0, "", 1, 2, [], False, 0, ())
        first = asyncio.create_task(worker.issue(cursor))
        await store.written.wait()
        issued = [await worker.issue(cursor), await first]
        assert {(await worker.decode(token)).pit for token in issued} == {"view"}
    finally:
        await store.close()


def open_pits(opensearch_url: str) -> set[str]:
    """The ids of all points in time that the engine has."""
    response = httpx.get(f"{opensearch_url}/_search/point_in_time/_all", timeout=30)
    return {pit["pit_id"] for pit in response.json().get("pits", ())}
