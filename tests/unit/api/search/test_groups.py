"""The requests for groups, as golden files in tests/golden/groups, and their order."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from api.engine.responses import EngineResponse, Hit
from api.errors import ApiError
from api.http.json_body import parse
from api.search import groups
from api.search.context import Index, Page, SearchContext
from api.search.groups import Head
from api.search.parsing.parse import parse_query
from api.search.query.request import Position, SearchQuery
from api.search.schemas.search import SearchBody
from mappings.fields import SORTS
from tests.support.golden import GOLDEN, Golden
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

PLATFORMS = [platform for platform in shared_platforms() if platform.id == 730]
CASES: dict[str, str] = {
    "default": '{"groupBy": "name"}',
    "page": '{"groupBy": "name", "limit": 7, "page": 3, "filters": {"weapon": ["AK-47"]}}',
    "text": '{"groupBy": "name", "query": "redline"}',
    **{f"sort_{sort.name}": json.dumps({"groupBy": "name", "query": "x", "sort": sort.name}) for sort in SORTS},
}


def query_of(text: str) -> SearchQuery:
    body = SearchBody.model_validate(parse(text.encode()))
    return SearchQuery(body, parse_query(body.query, PLATFORMS))


@pytest.mark.parametrize("name", CASES)
def test_groups_are_requested_as_in_the_golden_file(name: str, golden: Golden) -> None:
    query = query_of(CASES[name])
    order = [groups.heads_request(query)]
    if query.sort.name == "price_asc":
        order = [groups.group_page_request(query), groups.group_count_request(query)]
    requests = {"order": order, "cards": groups.group_hits_request(query, [5, -7])}
    golden(f"groups/{name}", {"body": json.loads(CASES[name]), **requests})


def test_every_golden_file_is_used() -> None:
    assert {file.stem for file in Path(GOLDEN / "groups").glob("*.json")} == set(CASES)


def test_a_part_of_all_groups_keeps_the_score_of_the_text() -> None:
    query = groups.heads_request(query_of(CASES["text"]), (0, 9))["query"]["bool"]
    assert query["filter"] == [{"range": {"group": {"gte": 0, "lte": 9}}}]
    assert query["must"] == [groups.heads_request(query_of(CASES["text"]))["query"]]


@pytest.mark.parametrize(("sort", "order"), [("float_asc", [4, 1, 2, 5, 3, 6]), ("float_desc", [2, 5, 1, 4, 3, 6])])
def test_groups_without_the_value_come_last_and_ties_go_by_id(sort: str, order: list[int]) -> None:
    heads = [
        Head(6, (None,), 9, 1),
        Head(5, (0.5,), 4, 1),
        Head(1, (0.25,), 3, 1),
        Head(2, (0.5,), -4, 2),
        Head(3, (None,), 9, 0),
        Head(4, (0.0,), 7, 1),
    ]

    def paged(body: dict[str, Any]) -> list[int]:
        return [head.group for head in groups.page_of_heads(query_of(json.dumps({"sort": sort, **body})), heads)]

    assert paged({}) == order
    assert [paged({"limit": 4, "page": page}) for page in (1, 2, 3)] == [order[:5], order[4:], []], "and the next"


@pytest.mark.parametrize("remaining", [(1, 2, 3, 4, 5), (3, 4, 5), (2, 4, 5)])
def test_a_cursor_reads_on_behind_the_last_head_though_it_is_hidden(remaining: tuple[int, ...]) -> None:
    heads = [Head(number, (number / 8,), number, 1) for number in range(1, 6)]
    query = query_of('{"sort": "float_asc", "limit": 2}')
    _, last, _ = groups.page_of_heads(query, heads)
    read = replace(query, position=Position(2, 5, [last.group, list(last.values), last.id, last.platform]))
    left = [head for head in heads if head.group in remaining]
    assert groups.page_of_heads(read, left) == [head for head in left if head.group > 2]


def test_a_full_answer_may_lack_groups() -> None:
    hit: Hit = {"sort": [1, 2, 3, 4, 5]}
    full: EngineResponse = {"hits": {"hits": [hit] * groups.MAX_HEADS}}
    assert groups.heads_of(full) is None
    assert groups.group_count({"aggregations": {"number": {"count": groups.MAX_HEADS}}}) is None
    assert groups.heads_of({"hits": {"hits": [hit]}}) == [Head(5, (4,), 2, 3)]


def test_missing_values_are_distinguished_from_values() -> None:
    sorts = [[1, 2, 3, value, 5] for value in (2**63 - 1, -(2**63), "Infinity", "-Infinity", None, 0.0, 0, "infinity")]
    heads = groups.heads_of({"hits": {"hits": [{"sort": values} for values in sorts]}})
    assert heads is not None
    assert [head.values[0] for head in heads] == [None, None, None, None, None, 0.0, 0, "infinity"]


def test_a_group_whose_offers_have_all_gone_is_not_made_up() -> None:
    empty: EngineResponse = {"hits": {}, "aggregations": {"offers": {"buckets": []}}}
    assert groups.group_hits(empty, [5], 2) == []
    assert groups.group_hits(empty, [], 2) == []


def grouping(heads: dict[int, list[int]]) -> Callable[[Any], EngineResponse]:
    """An engine that has these heads: by group the values that they are sorted by."""

    def response(body: Any) -> EngineResponse:
        if "offers" in body.get("aggregations", {}):
            (terms,) = [clause["terms"] for clause in body["query"]["bool"]["filter"] if "terms" in clause]
            hits: list[Any] = [
                {"sort": [1, group, 730, group], "item": b'{"id":%d}' % group} for group in terms["group"]
            ]
            stats = {"count": 1, "min": 5, "max": 700}
            offers = {"doc_count": 2, "price": stats, "float": {"count": 0}}
            buckets = [{"key": group, **offers} for group in terms["group"]]
            return {"hits": {"hits": hits}, "aggregations": {"offers": {"buckets": buckets}}}
        if "names" in body.get("aggregations", {}):
            return {"hits": {}, "aggregations": {"number": {"count": len(heads), "sum": 2.0 * len(heads)}}}
        clauses = body["query"]["bool"]["filter"]
        bounds: list[Any] = [clause["range"]["group"] for clause in clauses if "range" in clause]
        low, high = (bounds[0]["gte"], bounds[0]["lte"]) if bounds else groups.ALL_GROUPS
        within = [{"sort": [1, group, 730, *values, group]} for group, values in heads.items() if low <= group <= high]
        total = {"value": 2 * len(within)}  # each group has two offers
        return {"hits": {"total": total, "hits": [cast("Hit", hit) for hit in within[: groups.MAX_HEADS]]}}

    return response


def searching(text: str, response: Callable[[Any], EngineResponse]) -> tuple[SearchContext, ScriptedEngine]:
    engine, platforms = ScriptedEngine(response), tuple(PLATFORMS)
    return SearchContext(Index(engine, platforms), query_of(text)), engine


def ids(page: Page) -> list[int]:
    return [orjson.loads(orjson.dumps(gear))["id"] for gear in page.gear]


async def test_by_price_the_engine_orders_the_groups() -> None:
    context, _ = searching('{"groupBy": "name", "sort": "price_asc"}', grouping({5: [], -7: []}))
    page = await groups.grouped_page(context)
    assert (ids(page), page.total, page.items) == ([5, -7], 2, 4)
    offers = orjson.loads(orjson.dumps(page.gear[0]))["offers"]
    assert offers == {"count": 2, "priceMin": 0.05, "priceMax": 7.0, "floatMin": None, "floatMax": None}


@pytest.mark.parametrize(("counted", "limit"), [(3, 20), (1, 20), (0, 20), (1, 2)])
async def test_where_the_index_was_refreshed_between_page_and_number_both_are_read_again(
    counted: int, limit: int
) -> None:
    response = grouping({5: [10], -7: [20]})

    def refreshed(body: Any) -> EngineResponse:
        if "names" in body.get("aggregations", {}):
            return {"hits": {}, "aggregations": {"number": {"count": counted}}}
        return response(body)

    context, engine = searching(json.dumps({"groupBy": "name", "sort": "price_asc", "limit": limit}), refreshed)
    page = await groups.grouped_page(context)
    assert (ids(page), page.total) == ([5, -7], 2)
    assert engine.sizes == [2, 1, 1], "page and number, all heads, the page's offers"


async def test_by_any_other_sort_the_heads_are_ordered_here() -> None:
    context, _ = searching('{"groupBy": "name", "sort": "newest"}', grouping({5: [10], -7: [20], 8: [15]}))
    page = await groups.grouped_page(context)
    assert (ids(page), page.total) == ([-7, 8, 5], 3)
    assert await groups.rank_of_group(context, 8) == (2, 3)
    assert await groups.rank_of_group(context, 9) == (None, 3)


@pytest.mark.parametrize("sort", ["price_asc", "newest"])
async def test_more_groups_than_one_answer_holds_are_fetched_by_halves(sort: str) -> None:
    count = groups.MAX_HEADS + 2  # half of them on each side of 0
    first, last = -count // 2, count // 2 - 1
    heads = {group: [group] for group in range(first, last + 1)}
    context, _ = searching(json.dumps({"groupBy": "name", "sort": sort, "limit": 2}), grouping(heads))
    page = await groups.grouped_page(context)
    assert (ids(page), page.total) == ([first, first + 1] if sort == "price_asc" else [last, last - 1], count)
    assert page.items == 2 * count


async def test_without_groups_no_hits_are_fetched() -> None:
    page = await groups.grouped_page(searching('{"groupBy": "name", "sort": "newest"}', grouping({}))[0])
    assert (page.gear, page.total) == ([], 0)


async def test_offers_that_change_faster_than_they_are_read_are_an_error() -> None:
    response = grouping({5: [10]})

    def changing(body: Any) -> EngineResponse:
        if "offers" in body.get("aggregations", {}):
            return {"hits": {}, "aggregations": {"offers": {"buckets": []}}}
        return response(body)

    context, engine = searching('{"groupBy": "name", "sort": "newest"}', changing)
    with pytest.raises(ApiError, match="change faster"):
        await groups.grouped_page(context)
    assert len(engine.round_trips) == 2 * groups.MAX_ATTEMPTS
