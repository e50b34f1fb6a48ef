"""Facets of a price range that is counted in parts are those of the range."""

import random
from decimal import Decimal
from pathlib import Path
from typing import Any

from api.search.context import Index
from api.search.facets.facets import FacetCounting
from api.search.facets.price_parts import MANY_ITEMS
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from api.search.service import SearchServices
from mappings.fields import FACETS
from mappings.platforms import read_platforms
from tests.support.search.items import make_items
from tests.support.search.serving import new_engine, serving

(CS2,) = read_platforms()
AMOUNTS = ["0", "0.03", "0.5", "1.1", "4.99", "5", "5.01", "19.99", "20", "73.61", "1999.99", "2000", "1000000"]
OTHERS: list[dict[str, Any]] = [
    {},
    {"exterior": ["Field-Tested"]},
    {"float": {"max": Decimal("0.2")}},
    {"type": ["Knife"]},
]


def drawn_query(chance: random.Random) -> SearchQuery:
    bounds = sorted(map(Decimal, chance.sample(AMOUNTS, 2)))
    price = dict(zip(chance.choice([["min", "max"], ["min"], ["max"]]), bounds, strict=False))
    filters = {**chance.choice(OTHERS), "price": price}
    body = SearchBody.model_validate({"filters": filters, "facets": [row.name for row in FACETS]})
    return SearchQuery(body, parse_query("", [CS2]))


async def test_counts_in_parts_are_those_of_the_whole_range(opensearch_url: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    items = make_items(300, 7)
    for item in items[::2]:
        item["price"] = chance.randint(0, 300_000) / 100
    async with serving(opensearch_url, tmp_path, items) as (app, _), new_engine(app) as engine:
        index = Index(engine, (CS2,))
        for _ in range(40):
            query = drawn_query(chance)
            facets = await FacetCounting(index, query).facets()
            assert await FacetCounting(index, query, in_parts=True).facets() == facets, query.body
            assert facets is not None


async def test_a_search_counts_in_parts_once_its_filters_are_known_to_be_broad(
    opensearch_url: str, tmp_path: Path
) -> None:
    async with serving(opensearch_url, tmp_path, make_items(200, 7)) as (app, _):
        services: SearchServices = app.app.state.services[SearchServices]
        requests: list[int] = []
        search_all = services.engine.search_all

        async def counted(platforms: Any, bodies: Any, *filter_path: str) -> Any:
            requests.append(len(bodies))
            return await search_all(platforms, bodies, *filter_path)

        services.engine.search_all = counted  # type: ignore[method-assign]  # the same, and counted
        body = {"filters": {"price": {"max": 1500}}, "facets": ["type"], "sort": "price_asc"}
        before = (await app.search(body)).json()
        checked = SearchBody.model_validate({**body, "filters": {"price": {"max": 70}}})
        services.broad_filters.add(SearchQuery(checked, parse_query("", [CS2])), MANY_ITEMS)
        assert (await app.search(body)).json() == before
        assert requests == [3, 4], "page, total and facets; the facets in two parts"
