"""A cached response is given without a search, for just as long as a search would find the same."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import AsyncTransport, OpenSearch

from mappings.connection import connect
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp, running, settings_for
from tests.support.platforms import shared_platforms
from tests.support.search.serving import wait_for_revisions

(PLATFORM,) = shared_platforms()
ITEMS = range(40)
BODIES: list[dict[str, Any]] = [
    {"limit": 100},
    {"limit": 100, "sort": "price_asc", "filters": {"price": {"max": 20}}},
    {"limit": 100, "query": "redline", "sort": "newest"},
    {"limit": 100, "facets": ["exterior"]},
    {"limit": 100, "groupBy": "name"},
]


@pytest.fixture
async def app(opensearch_url: str, index_prefix: str, tmp_path: Path) -> AsyncIterator[RunningApp]:
    """The app with forty items."""
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    put_index(settings, PLATFORM, map(simple_item, ITEMS))
    async with running(settings) as started:
        wait_for_revisions(started)
        yield started


@pytest.fixture
def client(app: RunningApp) -> Iterator[OpenSearch]:
    """The engine, past the app."""
    connected = connect(app.settings)
    yield connected
    connected.close()


@pytest.fixture
def engine_requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of all that the app asks of the engine, in order, but for what keeps the log of changes."""
    paths: list[str] = []
    perform = AsyncTransport.perform_request

    async def noted(self: AsyncTransport, method: str, url: str, **more: Any) -> Any:
        path = url.rpartition("/")[2]
        if path != "docs":  # how large the logs are, now and then
            paths.append(path)
        return await perform(self, method, url, **more)

    monkeypatch.setattr(AsyncTransport, "perform_request", noted)
    return paths


async def search_response(app: RunningApp, body: dict[str, Any]) -> dict[str, Any]:
    response = await app.search(body)
    assert response.status_code == 200, response.text
    content: dict[str, Any] = response.json()
    return content


async def test_the_second_time_the_engine_is_only_asked_whether_anything_changed(
    app: RunningApp, engine_requests: list[str]
) -> None:
    first = [await app.search(body) for body in BODIES]
    engine_requests.clear()
    again = [await app.search(body) for body in BODIES]
    assert [response.content for response in again] == [response.content for response in first]
    assert engine_requests == ["refresh"] * len(BODIES)


async def test_who_asks_at_the_same_time_shares_that_question(app: RunningApp, engine_requests: list[str]) -> None:
    for _ in range(5):  # a new index may be refreshed once more by itself
        engine_requests.clear()
        await search_response(app, BODIES[0])
        if engine_requests == ["refresh"]:
            break
    engine_requests.clear()
    responses = await asyncio.gather(*(search_response(app, BODIES[0]) for _ in range(50)))
    assert all(response["total"] == len(ITEMS) for response in responses)
    assert set(engine_requests) == {"refresh"}
    assert len(engine_requests) < 25


async def test_nothing_is_found_that_a_search_would_not_find(app: RunningApp, client: OpenSearch) -> None:
    """Items sold, taken away and put back, whole catalogues swapped: after each, all is asked for, some of it twice."""
    chance = random.Random(5)
    offered = set(ITEMS)
    name = app.settings.alias(PLATFORM.id)
    for _ in range(60):
        item, change = chance.choice(ITEMS), chance.random()
        if change < 0.1:
            before = next(iter(client.indices.get_alias(name=name)))
            put_index(app.settings, PLATFORM, map(simple_item, ITEMS))
            client.indices.delete(index=before)
            offered = set(ITEMS)
        elif change < 0.9:
            bound = item in offered
            client.update(index=name, id=str(item), body={"doc": {"bound": bound}}, params={"refresh": "true"})
            offered ^= {item}
        for body in chance.choices(BODIES, k=4):
            response = await search_response(app, body)
            assert response["total"] == (len(offered) if "groupBy" not in body else bool(offered))
            if "groupBy" not in body:
                assert {hit["id"] for hit in response["gear"]} == offered


async def test_a_cursor_is_a_view_of_its_own_each_time(app: RunningApp) -> None:
    started = [await search_response(app, {"limit": 5, "cursor": "*"}) for _ in range(2)]
    assert started[0]["nextCursor"] != started[1]["nextCursor"]


async def test_what_cannot_be_asked_is_not_stored(app: RunningApp) -> None:
    for _ in range(2):
        assert (await app.search({"limit": 0})).status_code == 422


async def test_a_cached_suggestion_is_no_answer_to_a_search(app: RunningApp) -> None:
    assert (await app.client.get("/v1/gear/suggest", params={"q": "redl"})).status_code == 200
    for body in (b"suggest -1 8 redl", b"-1 8 redl"):
        headers = {"Content-Type": "application/json"}
        error_of(await app.client.post("/v1/gear/search", content=body, headers=headers), "invalid_json")
