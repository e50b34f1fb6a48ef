"""Groups: one a name, exact in every sort and on every page, whatever happens between two questions to the engine."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.engine.client import Engine
from api.engine.responses import EngineResponse
from api.errors import ApiError
from api.search.context import Index, SearchContext
from api.search.groups import MAX_ATTEMPTS, grouped_page
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.fields import SORTS
from mappings.platforms import Platform, read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.platform_files import platform_folder
from tests.support.app import RunningApp, running, settings_for
from tests.support.indices import drop_indices
from tests.support.search import oracle
from tests.support.search.fixtures import SearchedItems

every_sort = pytest.mark.parametrize("sort", [sort.name for sort in SORTS])


def walked(searched: SearchedItems, body: dict[str, Any]) -> list[int]:
    """The ids of the cards of all pages."""
    _, total = oracle.response(searched.items, body)
    card_ids: list[int] = []
    for page in range(1, total // body["limit"] + 2):
        response = searched.ask({**body, "page": page})
        assert response["total"] == total
        card_ids += [card["id"] for card in response["gear"]]
    assert len(card_ids) == len(set(card_ids)) == total
    return card_ids


@every_sort
@pytest.mark.parametrize("more", [{}, {"query": "asiimov"}, {"filters": {"price": {"min": 5}}}])
def test_all_pages_give_each_name_once_in_the_order_of_the_sort(
    searched_items: SearchedItems, sort: str, more: dict[str, Any]
) -> None:
    body = {"groupBy": "name", "sort": sort, "limit": 9, **more}
    ids = walked(searched_items, body)
    expected, _ = oracle.response(searched_items.items, {**body, "limit": 1000})
    assert ids == expected if expected is not None else len(ids) > 9


@every_sort
async def test_more_names_than_one_answer_holds_are_asked_for_in_parts(
    searched_items: SearchedItems, opensearch_url: str, sort: str
) -> None:
    body = {"groupBy": "name", "sort": sort, "limit": 50}
    expected = await asyncio.to_thread(walked, searched_items, body)
    assert len(expected) > 100
    engine = Engine(SearchSettings(opensearch_url=opensearch_url, index_prefix=searched_items.prefix), timeout=30)
    index = Index(engine, (_platform(read_platforms().by_id(730)),))
    ids: list[int] = []
    try:
        for page in range(1, -(-len(expected) // 50) + 1):
            query = SearchQuery(SearchBody.model_validate({**body, "page": page}), parse_query("", index.platforms))
            gear = (await grouped_page(SearchContext(index, query), max_heads=9)).gear
            ids += [card["id"] for card in orjson.loads(orjson.dumps(gear))]
    finally:
        await engine.close()
    assert ids == expected


def test_facets_of_groups_count_items(searched_items: SearchedItems) -> None:
    body = {"facets": ["type", "float"], "filters": {"type": ["Knife"]}}
    for sort in ("price_asc", "newest"):
        response = searched_items.ask({**body, "sort": sort, "groupBy": "name"})
        assert response["facets"] == searched_items.ask(body)["facets"]


@pytest.fixture(scope="module")
async def app(opensearch_url: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningApp]:
    """Platforms 730 and 570 with a name in common, 10 never loaded, 20 with an index of an older definition."""
    folder, prefix = tmp_path_factory.mktemp("groups"), f"t{secrets.token_hex(5)}"
    others = ((570, "dota2", "USD", 2), (10, "cs1", "USD", 2), (20, "old", "USD", 2))
    files = platform_folder(folder, *others)
    async with running(settings_for(opensearch_url, prefix, folder, platform_files=files)) as started:
        client = connect(started.settings)
        try:
            platforms = read_platforms(files)
            put_index(started.settings, _platform(platforms.by_id(730)), [simple_item(1, 3.0), simple_item(2, 2.0)])
            put_index(started.settings, _platform(platforms.by_id(570)), [simple_item(1, 2.0), simple_item(2, None)])
            old = read_definition().create_body()
            mapped = {name: field for name, field in old["mappings"]["properties"].items() if name != "group"}
            old |= {"mappings": {"properties": mapped}, "aliases": {f"{prefix}-20": {}}}
            client.indices.create(index=f"{prefix}-20-old", body=old)
            client.index(index=f"{prefix}-20-old", body={"bound": False}, params={"refresh": "true"})
            yield started
        finally:
            client.close()
            drop_indices(opensearch_url, prefix)


def _platform(platform: Platform | None) -> Platform:
    assert platform is not None
    return platform


@pytest.mark.parametrize("sort", ["price_asc", "price_desc"])
async def test_a_name_of_several_platforms_has_one_group(app: RunningApp, sort: str) -> None:
    client = connect(app.settings)
    try:
        client.indices.delete_alias(index="*", name=f"{app.settings.index_prefix}-20")
        (card,) = (response := (await app.search({"groupBy": "name", "sort": sort})).json())["gear"]
    finally:
        client.indices.put_alias(index=f"{app.settings.index_prefix}-20-old", name=f"{app.settings.index_prefix}-20")
        client.close()
    assert (response["total"], card["id"], card["price"]) == (1, 1, 2.0)
    assert card["offers"] == {"count": 4, "priceMin": 2.0, "priceMax": 3.0, "floatMin": None, "floatMax": None}


@pytest.mark.parametrize("sort", ["price_asc", "newest"])
async def test_an_index_of_an_older_definition_is_a_503_that_says_what_to_do(app: RunningApp, sort: str) -> None:
    error = error_of(await app.search({"platform": 20, "groupBy": "name", "sort": sort}), "search_unavailable")
    assert "load the catalogue again" in error["message"]


async def test_groups_of_a_platform_never_loaded_are_a_503(app: RunningApp) -> None:
    error_of(await app.search({"platform": 10, "groupBy": "name"}), "search_unavailable")


async def test_what_cannot_be_grouped_is_a_422_that_names_the_field(app: RunningApp) -> None:
    for body in ({"groupBy": "type"}, {"groupBy": ["name"]}):
        assert fields_of(await app.search(body), "validation_failed") == ["groupBy"]
    beyond = await app.search({"groupBy": "name", "limit": 100, "page": 101})
    error_of(beyond, "page_window_exceeded")


async def test_groups_of_different_currencies_need_a_platform(opensearch_url: str, tmp_path: Path) -> None:
    files = platform_folder(tmp_path, (570, "dota2", "JPY", 0))
    async with running(settings_for(opensearch_url, "tnever", tmp_path, platform_files=files)) as app:
        refused = await app.search({"sort": "newest", "groupBy": "name"})
        assert fields_of(refused, "validation_failed") == ["platform"]


class SellingEngine(Engine):
    """The real engine, with a shop before it: after an order of cards was read, the first name sells out."""

    sales = 0

    async def search_all(self, platforms: Any, bodies: Any, *parts: str) -> list[EngineResponse]:
        responses = await super().search_all(platforms, bodies, *parts)
        ordering = "offers" not in bodies[0].get("aggregations", {})
        if ordering and self.sales:
            self.sales -= 1
            client = connect(self._settings)
            try:
                number = responses[0]["hits"]["hits"][0]["sort"][1]
                client.delete(index=self._settings.alias(platforms[0].id), id=str(number), params={"refresh": "true"})
            finally:
                client.close()
        return responses


@pytest.mark.parametrize("sort", ["price_asc", "newest"])
async def test_a_name_that_sells_out_between_two_questions_is_no_hole_in_the_page(
    opensearch_url: str, sort: str
) -> None:
    settings = SearchSettings(opensearch_url=opensearch_url, index_prefix=f"t{secrets.token_hex(5)}")
    platform = Platform(id=1, slug="p", name="p", currency="USD", minor_digits=2)
    items = [simple_item(number, float(number), f"Thing {number}") for number in range(1, 9)]
    engine = SellingEngine(settings, timeout=30)
    query = SearchQuery(SearchBody(limit=3, sort=sort, groupBy="name"), parse_query("", [platform]))
    context = SearchContext(Index(engine, (platform,)), query)
    try:
        put_index(settings, platform, items)
        engine.sales = MAX_ATTEMPTS - 1
        page = await grouped_page(context)
        assert [card["id"] for card in orjson.loads(orjson.dumps(page.gear))] == [3, 4, 5]
        assert page.total == 6
        engine.sales = MAX_ATTEMPTS
        with pytest.raises(ApiError) as refused:
            await grouped_page(context)
        assert refused.value.code == "search_unavailable"
    finally:
        await engine.close()
        drop_indices(opensearch_url, settings.index_prefix)
