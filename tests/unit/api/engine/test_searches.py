"""Whatever is searched for, a partial response and one of no search engine are errors that every caller handles."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from api.engine import state
from api.engine.errors import NotLoadedError
from api.engine.feed import FeedEngine
from api.engine.responses import BadResponseError
from api.errors import ApiError
from api.search.explain.explain import explain_item
from api.search.schemas.search import SearchBody
from mappings.connection import SearchSettings
from tests.support.faults.answering_wire import http, response
from tests.support.faults.scripted_server import scripted_server
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
INDEX = "gear-730-20260101000000000-01234567"
REFRESHED = response(200, {"_shards": {"total": 1, "failed": 0}})
MISSING = response(404, {"found": False})
NO_INDEX = response(404, {"error": {"type": "index_not_found_exception", "index": "gear-730"}, "status": 404})
NOTHING = response(200, {"_shards": {"total": 1, "failed": 0}, "hits": {"total": {"value": 0}, "hits": []}})
ONE = response(200, {"_shards": {"total": 1, "failed": 0}, "hits": {"total": {"value": 1}}})
NO_SHARDS = response(200, {"_shards": {"total": 0, "failed": 0}, "hits": {"total": {"value": 0}, "hits": []}})


async def deletes(engine: FeedEngine) -> Any:
    return [ids async for ids in engine.deleted_since(730, 0)]


async def reasons(engine: FeedEngine) -> Any:
    return (await explain_item(engine, shared_platforms(), CS2, 1, SearchBody())).reasons


SERVING = response(200, {INDEX: {"aliases": {"gear-730": {}}}})
# what comes before an item that does not serve is looked for elsewhere
EXPLAINED = [SERVING, ONE, NOTHING, MISSING]
SEARCHES: dict[str, tuple[Callable[[FeedEngine], Awaitable[Any]], list[bytes]]] = {
    "deletes": (deletes, [REFRESHED]),
    "snapshot": (lambda engine: engine.hits("pit", {}), []),
    "count": (lambda engine: engine.count("pit"), []),
    "entries": (lambda engine: engine.entries("log", {}), []),
    "matches": (lambda engine: engine.matched("log", b"{}"), []),
    "progress records": (lambda engine: state.progress_records(engine, CS2), []),
    "explained item": (reasons, EXPLAINED),
    "search": (lambda engine: engine.search([CS2], {}), []),
    "point in time": (lambda engine: engine.search_pit({}, ()), []),
    "generation": (lambda engine: engine.search_index([CS2], INDEX, {}), []),
}


async def requested(search: Callable[[FeedEngine], Awaitable[Any]], *responses: bytes) -> tuple[Any, list[str]]:
    """What a search gives where an engine responds so, and the heads of its requests."""
    async with scripted_server([[each] for each in responses]) as server:
        engine = FeedEngine(SearchSettings(_env_file=None, opensearch_url=server.url), 5)
        try:
            return await search(engine), [head for _, head, _ in server.requests]
        finally:
            await engine.close()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    "last",
    [
        response(200, {"_shards": {"total": 2, "failed": 1}, "hits": {"total": {"value": 0}, "hits": []}}),
        response(200, {"_shards": {"total": 1, "failed": 0}, "timed_out": True, "hits": {"hits": []}}),
        response(200, {}),
        http(200, b"<html>a gateway's page</html>"),
    ],
    ids=["failed shard", "timed out", "other JSON", "page"],
)
async def test_what_is_no_complete_response_is_an_error(search: str, last: bytes) -> None:
    call, before = SEARCHES[search]
    with pytest.raises(BadResponseError):
        await requested(call, *before, last)


@pytest.mark.parametrize("search", SEARCHES)
async def test_no_search_allows_a_partial_response(search: str) -> None:
    call, before = SEARCHES[search]
    _, heads = await requested(call, *before, NOTHING)
    assert "/_search?" in heads[-1]
    assert "allow_partial_search_results=false" in heads[-1]


async def test_a_page_in_place_of_the_list_of_logs_is_an_error() -> None:
    with pytest.raises(BadResponseError):
        await requested(lambda engine: engine.logs("gear-changes-*"), http(200, b"<html>"))
    logs, _ = await requested(lambda engine: engine.logs("gear-changes-*"), response(200, [{"index": "a"}]))
    assert logs == ["a"]


async def test_a_point_in_time_that_cannot_be_checked_is_discarded() -> None:
    discarded = list[str]()

    async def opened(engine: FeedEngine) -> Any:
        return await engine.open_pit([CS2], 60, discarded.append)

    pit = response(200, {"pit_id": "abc"})
    with pytest.raises(ApiError, match="search_unavailable"):
        await requested(opened, SERVING, pit, response(503, {}))
    assert discarded == ["abc"]
    replaced = response(200, {"gear-730-20260102000000000-01234567": {"aliases": {"gear-730": {}}}})
    newer = response(200, {"pit_id": "def"})
    assert (await requested(opened, SERVING, pit, replaced, replaced, newer, replaced))[0].id == "def"
    assert discarded == ["abc", "abc"]


async def test_what_may_be_missing_is_searched_as_far_as_it_is_there() -> None:
    hits, _ = await requested(lambda engine: engine.search_index([CS2], INDEX, {}), NO_SHARDS)
    assert hits["hits"]["hits"] == []
    assert (await requested(reasons, *EXPLAINED, NO_SHARDS))[0] == ["not_indexed"]
    assert (await requested(deletes, NO_INDEX))[0] == [], "nothing was ever deleted"
    assert (await requested(lambda engine: state.progress_records(engine, CS2), NO_INDEX))[0] == []
    with pytest.raises(NotLoadedError):
        await requested(lambda engine: engine.entries("log", {}), NO_INDEX)
