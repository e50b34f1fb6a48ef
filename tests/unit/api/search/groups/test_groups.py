"""The requests for groups, as golden files in tests/golden/groups, and their order."""

import json
from pathlib import Path

import pytest

from api.engine.answers import Answer, Hit
from api.http.json_body import parse
from api.search import groups
from api.search.groups import Head
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.fields import SORTS
from mappings.platforms import read_platforms
from tests.support.golden import GOLDEN, Golden

PLATFORMS = [one for one in read_platforms() if one.id == 730]
CASES: dict[str, str] = {
    "default": '{"groupBy": "name"}',
    "page": '{"groupBy": "name", "limit": 7, "page": 3, "filters": {"weapon": ["AK-47"]}}',
    "text": '{"groupBy": "name", "query": "redline"}',
    **{f"sort_{sort.name}": json.dumps({"groupBy": "name", "query": "x", "sort": sort.name}) for sort in SORTS},
}


def query_of(text: str) -> SearchQuery:
    body = SearchBody.model_validate(parse(text.encode()))
    return SearchQuery(body, parse_query(body.query, PLATFORMS), minor_digits=2)


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
    query = groups.heads_request(query_of(CASES["text"]), 0, 9)["query"]["bool"]
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
    assert groups.page_of_heads(query_of(json.dumps({"sort": sort})), heads) == order
    pages = [json.dumps({"sort": sort, "limit": 4, "page": page}) for page in (1, 2, 3)]
    assert [groups.page_of_heads(query_of(page), heads) for page in pages] == [order[:4], order[4:], []]


def test_a_full_answer_may_lack_groups() -> None:
    hit: Hit = {"sort": [1, 2, 3, 4, 5]}
    full: Answer = {"hits": {"hits": [hit] * groups.MAX_HEADS}}
    assert groups.heads_of(full) is None
    assert groups.group_count({"aggregations": {"number": {"count": groups.MAX_HEADS}}}) is None
    assert groups.heads_of({"hits": {"hits": [hit]}}) == [Head(5, (4,), 2, 3)]


def test_missing_values_are_told_from_values() -> None:
    sorts = [[1, 2, 3, value, 5] for value in (2**63 - 1, -(2**63), "Infinity", "-Infinity", None, 0.0, 0, "infinity")]
    heads = groups.heads_of({"hits": {"hits": [{"sort": values} for values in sorts]}})
    assert heads is not None
    assert [head.values[0] for head in heads] == [None, None, None, None, None, 0.0, 0, "infinity"]


def test_a_group_whose_offers_have_all_gone_is_not_made_up() -> None:
    empty: Answer = {"hits": {}, "aggregations": {"offers": {"buckets": []}}}
    assert groups.group_hits(empty, [5], 2) is None
    assert groups.group_hits(empty, [], 2) == []
