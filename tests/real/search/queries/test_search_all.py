"""Several searches in one round trip: every one is answered whole, or all of them are a 503."""

import secrets
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from api.engine.client import Engine
from api.engine.responses import EngineResponse
from api.errors import ApiError
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from tests.support.api.catalogue import put_index, simple_item
from tests.support.indices import drop_indices
from tests.support.search.several_searches import ALSO_LOADED, EVERYTHING, LOADED, NEVER_LOADED, SECOND, unavailable

NUMBER_OF_PRICED: dict[str, Any] = {
    "size": 0,
    "track_total_hits": True,
    "aggregations": {"priced": {"value_count": {"field": "price"}}},
}


@pytest.fixture(scope="module")
async def engine(opensearch_url: str) -> AsyncIterator[Engine]:
    """An engine with items 1 to 3 of platform 1, 2 to 3 of platform 2, and none of platform 3."""
    settings = SearchSettings(opensearch_url=opensearch_url, index_prefix=f"t{secrets.token_hex(5)}")
    put_index(settings, LOADED, map(simple_item, range(1, 4)))
    put_index(settings, ALSO_LOADED, map(simple_item, range(2, 4)))
    started = Engine(settings, timeout=30)
    try:
        yield started
    finally:
        await started.close()
        drop_indices(opensearch_url, settings.index_prefix)


def totals(responses: list[EngineResponse]) -> list[int]:
    return [response["hits"]["total"]["value"] for response in responses]


async def test_each_body_has_its_own_answer_in_the_order_asked(engine: Engine) -> None:
    responses = await engine.search_all([LOADED], [EVERYTHING, SECOND, NUMBER_OF_PRICED])
    assert totals(responses) == [3, 1, 3]
    assert [orjson.loads(hit["item"])["id"] for hit in responses[1]["hits"]["hits"]] == [2]
    assert responses[2]["aggregations"] == {"priced": {"value": 3}}


async def test_one_body_is_answered_as_a_single_search_is(engine: Engine) -> None:
    assert await engine.search_all([LOADED], [SECOND]) == [await engine.search([LOADED], SECOND)]


async def test_each_body_goes_over_all_platforms(engine: Engine) -> None:
    assert totals(await engine.search_all([LOADED, ALSO_LOADED], [EVERYTHING, SECOND])) == [5, 2]


async def test_of_several_platforms_those_never_loaded_have_no_items(engine: Engine) -> None:
    platforms = [NEVER_LOADED, LOADED, ALSO_LOADED]
    assert totals(await engine.search_all(platforms, [EVERYTHING, SECOND])) == [5, 2]
    assert totals(await engine.search_all([LOADED, NEVER_LOADED], [EVERYTHING, SECOND])) == [3, 1]


async def test_where_nothing_is_loaded_the_error_says_what_to_do(engine: Engine) -> None:
    another = NEVER_LOADED.model_copy(update={"id": 4})
    for platforms in ([NEVER_LOADED], [NEVER_LOADED, another]):
        message = await unavailable(engine, platforms, [EVERYTHING, SECOND])
        assert "load the catalogue with gear-indexer load" in message


async def test_a_shard_that_is_away_fails_every_body(engine: Engine, opensearch_url: str) -> None:
    """An alias over two indices, of which one has no shard in service: also for one body of several that meets it."""
    settings = SearchSettings(opensearch_url=opensearch_url, index_prefix=f"t{secrets.token_hex(5)}")
    own_engine = Engine(settings, timeout=30)
    client = connect(settings)
    try:
        put_index(settings, LOADED, map(simple_item, range(1, 4)))
        body = read_definition().create_body()
        body["settings"] = {**body["settings"], "index": {"routing.allocation.require._name": "nobody"}}
        away = f"{settings.index_prefix}-1-away"
        client.indices.create(index=away, body=body, params={"wait_for_active_shards": "0"})
        client.indices.put_alias(index=away, name=settings.alias(LOADED.id))
        await unavailable(own_engine, [LOADED], [EVERYTHING, SECOND])
        client.indices.delete_alias(index=away, name=settings.alias(LOADED.id))
        assert totals(await own_engine.search_all([LOADED], [EVERYTHING, SECOND])) == [3, 1]
    finally:
        client.close()
        await own_engine.close()
        drop_indices(opensearch_url, settings.index_prefix)


async def test_a_body_that_the_engine_refuses_is_a_fault_of_ours_and_no_outage(engine: Engine) -> None:
    with pytest.raises(Exception, match="parsing_exception") as refused:
        await engine.search_all([LOADED], [EVERYTHING, {"query": {"range": {"price": {"nothing": 1}}}}])
    assert not isinstance(refused.value, ApiError)
