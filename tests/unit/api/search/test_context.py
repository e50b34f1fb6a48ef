"""Which bodies can be searched, beyond what their schema says."""

import json
from typing import Any

import pytest

from api.engine.responses import EngineResponse, Hit
from api.errors import ApiError
from api.http.json_body import parse
from api.search.context import PointInTime, SearchContext, forced_clauses, page_of, search_context
from api.search.query.request import Position
from api.search.schemas.search import PAGE_WINDOW, SearchBody
from mappings.platforms import Platform, Platforms
from tests.support.platforms import shared_platforms
from tests.support.search.engines import NoEngine, ScriptedEngine

EURO = Platform(id=1, slug="one", name="One", currency="EUR", minor_digits=2)
PLATFORMS = Platforms([*shared_platforms(), EURO])
HIT: Hit = {"item": b'{"id":1}', "sort": [1]}


def context_of(body: dict[str, Any]) -> SearchContext:
    checked = SearchBody.model_validate(parse(json.dumps(body).encode()))
    return search_context(NoEngine(), PLATFORMS, checked)


def refused(body: dict[str, Any]) -> tuple[str, list[str]]:
    """The code and the fields that a body is refused with."""
    with pytest.raises(ApiError) as refusal:
        context_of(body)
    return refusal.value.code, [detail.field for detail in refusal.value.details]


@pytest.mark.parametrize(("limit", "page"), [(20, 500), (100, 100), (1, PAGE_WINDOW), (3, 3333), (7, 1428)])
def test_the_window_ends_at_10_000(limit: int, page: int) -> None:
    body = {"platform": 730, "limit": limit, "page": page}
    context_of(body)
    assert refused({**body, "page": page + 1}) == ("page_window_exceeded", ["page"])


def test_all_platforms_are_searched_unless_one_is_named() -> None:
    assert [platform.id for platform in context_of({"sort": "newest"}).platforms] == [1, 730]
    assert [platform.id for platform in context_of({"platform": 730}).platforms] == [730]
    assert refused({"platform": 2}) == ("unknown_platform", ["platform"])
    with pytest.raises(ApiError, match=r"1 \(one\), 730 \(cs2\)"):
        context_of({"platform": 2})


def test_prices_of_different_currencies_are_not_compared() -> None:
    assert refused({}) == ("validation_failed", ["platform"])
    assert refused({"sort": "newest", "facets": ["price"]}) == ("validation_failed", ["platform"])


def test_forced_filters_compare_prices_of_one_currency() -> None:
    filters = SearchBody.model_validate(parse(b'{"filters": {"price": {"max": 5}, "weapon": ["AK-47"]}}')).filters
    assert len(forced_clauses(filters, [EURO])) == 2
    assert forced_clauses(None, list(PLATFORMS)) == ()
    with pytest.raises(ApiError, match="this token filters by price"):
        forced_clauses(filters, list(PLATFORMS))


@pytest.mark.parametrize("page", [1, 2])
def test_a_cursor_has_no_page(page: int) -> None:
    body = {"platform": 730, "cursor": "*"}
    assert refused({**body, "page": page}) == ("validation_failed", ["page"])
    context_of({**body, "page": None})


async def test_an_index_is_searched_and_from_a_position_on_a_point_in_time() -> None:
    engine = ScriptedEngine(lambda body: {"hits": {"total": {"value": len(body)}, "hits": [HIT]}})
    context = search_context(engine, PLATFORMS, SearchBody(platform=730, query="ak"))
    page = page_of(context.query, await context.source.search_all([{"query": {}, "size": 1}]))
    assert (page.total, page.hits, page.size) == (2, [HIT], 1)
    continued = context.at(PointInTime(engine, "pit", False, 1.5, ()), Position(20, 35)).parsed_as(context.query.parsed)
    responses = await continued.source.search_all([{}, {"size": 1}])
    assert [response["hits"]["total"]["value"] for response in responses] == [1, 2]
    assert page_of(continued.query, responses).total == 35, "a cursor knows it from its first page on"
    many: list[EngineResponse] = [{"hits": {"hits": [HIT] * 21}}]
    assert (len(page_of(continued.query, many).hits), page_of(continued.query, many).has_next) == (20, True)
    pit = {"pit": {"id": "pit", "keep_alive": "1500ms"}}
    assert engine.round_trips == [[{"query": {}, "size": 1}], [pit], [{"size": 1, **pit}]]
