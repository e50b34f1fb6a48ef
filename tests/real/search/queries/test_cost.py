"""What a search costs, in numbers that no busy machine changes: a slow change shows here before anybody measures it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from api.http.json_body import parse
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.search import SearchBody
from mappings.connection import SearchSettings, connect
from tests.support.platforms import shared_platforms
from tests.support.search.fixtures import SearchedItems
from tests.support.search.visits import profiled

PLATFORMS = [platform for platform in shared_platforms() if platform.id == 730]
FILTERED = {
    "platform": 730,
    "filters": {"price": {"min": 5, "max": 100}, "exterior": ["FN", "MW"]},
    "sort": "price_asc",
}
TYPED = {"platform": 730, "query": "ak redline ft st under 50"}
FACETED = {**FILTERED, "facets": ["weapon", "exterior", "price"]}
GROUPED = {"platform": 730, "groupBy": "name"}


@pytest.mark.parametrize(
    ("body", "requests"),
    [({"platform": 730}, 1), (FILTERED, 1), ({**FILTERED, "page": 2}, 1), (TYPED, 1), (FACETED, 1), (GROUPED, 2)],
    ids=["everything", "filtered", "second page", "typed", "facets", "cards"],
)
def test_a_search_is_one_request_to_the_engine_and_groups_are_two(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]], body: dict[str, Any], requests: int
) -> None:
    # what texts ask of products is asked once; the second time the revision of the products is known to stand still
    for limit in (31, 32, 33):
        searched_items.ask({**body, "limit": limit})
    engine_requests.clear()
    searched_items.ask(body)
    assert [request["path"].endswith("search") for request in engine_requests] == [True] * requests


def test_a_text_of_which_the_filters_leave_nothing_is_searched_once(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    name = searched_items.items[0]["name"]
    response = searched_items.ask(
        {"platform": 730, "query": name, "filters": {"price": {"max": 0}}, "limit": 34, "explain": True}
    )
    assert (response["total"], response["interpretation"]["reading"]) == (0, "strict")
    lines = [json.loads(line) for request in engine_requests for line in (request["body"] or "").splitlines()]
    assert len([line for line in lines if line.get("size") == 34]) == 1


def test_the_engine_keeps_what_it_answers_and_filters_nothing(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    searched_items.ask({**FILTERED, "limit": 21})
    (sent,) = engine_requests
    head, page, _, count = [json.loads(line) for line in sent["body"].splitlines()]
    assert head["request_cache"] is True
    assert "filter_path" not in sent["params"]
    assert "_source" not in page
    assert (page["track_total_hits"], count["track_total_hits"], count["size"]) == (False, True, 0)


def test_what_is_sorted_by_score_is_scored_once(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    for limit in (34, 35, 36):
        searched_items.ask({**TYPED, "limit": limit})
    engine_requests.clear()
    searched_items.ask({**TYPED, "limit": 21})
    (sent,) = engine_requests
    head, page, *_ = [json.loads(line) for line in sent["body"].splitlines()]
    assert page["track_total_hits"] is True
    assert head["request_cache"] is True


def test_a_text_is_looked_up_among_products_before_and_not_again(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    searched_items.ask({"platform": 730, "query": "redline"})
    engine_requests.clear()
    searched_items.ask({"platform": 730, "query": "ak redline"})
    assert engine_requests[0]["path"] == f"/{searched_items.prefix}-730-products/_search"
    for limit in (8, 9):
        searched_items.ask({"platform": 730, "query": "ak redline", "limit": limit})
    engine_requests.clear()
    searched_items.ask({"platform": 730, "query": "ak redline", "limit": 7})
    later = [json.loads(line) for request in engine_requests for line in (request["body"] or "").splitlines()]
    assert not any("text" in json.dumps(line) for line in later), "no text is matched again"


def test_the_number_of_hits_is_the_same_question_on_all_pages_and_in_all_sorts() -> None:
    bodies = [FILTERED, {**FILTERED, "page": 2}, {**FILTERED, "sort": "newest", "limit": 50}]
    assert len({json.dumps(search_query(body).count_request) for body in bodies}) == 1


def test_a_page_by_price_looks_at_few_items_besides_its_own(searched_items: SearchedItems, opensearch_url: str) -> None:
    body = {"platform": 730, "filters": {"price": {"min": 1}}, "sort": "price_asc", "limit": 5}
    hits, total = searched_items.search(body)
    assert len(hits) == 5
    client = connect(SearchSettings(_env_file=None, opensearch_url=opensearch_url))
    try:
        index = f"{searched_items.prefix}-730"
        profiled = client.search(index=index, body={**search_query(body).page_request, "profile": True})
    finally:
        client.close()
    searches = [search for shard in profiled["profile"]["shards"] for search in shard["searches"]]
    looked_at = sum(query["breakdown"]["next_doc_count"] for search in searches for query in search["query"])
    assert 5 <= looked_at < total / 4
    assert "IndexSortSortedNumericDocValuesRangeQuery" in json.dumps(searches), "a range of prices is one stretch"


def test_an_answer_is_little_more_than_its_items(
    searched_items: SearchedItems, engine_requests: list[dict[str, Any]]
) -> None:
    response = searched_items.ask({"platform": 730, "limit": 100})
    items = len(json.dumps(response["gear"], separators=(",", ":"), ensure_ascii=False).encode())
    assert len(engine_requests[0]["response"]) < 3 * items


@pytest.mark.parametrize(("body", "most"), [(FILTERED, 280), (TYPED, 1200)], ids=["filtered", "typed"])
def test_a_search_is_written_in_so_many_calls(body: dict[str, Any], most: int) -> None:
    """Calls of functions, Python's and its libraries', from the read body to the engine's: the same everywhere."""
    written(body)  # what is made once
    with counted_calls() as calls:
        written(body)
    assert calls["made"] < most, calls["made"]


def search_query(body: dict[str, Any]) -> SearchQuery:
    """The body as the service reads it."""
    checked = SearchBody.model_validate(parse(json.dumps(body).encode()))
    return SearchQuery(checked, parse_query(checked.query, PLATFORMS))


def written(body: dict[str, Any]) -> list[dict[str, Any]]:
    """All that is asked of the engine for a body."""
    return search_query(body).hit_requests


@contextmanager
def counted_calls() -> Iterator[dict[str, int]]:
    """How many functions are called within."""
    calls = {"made": 0}

    def count(_frame: Any, event: str, _argument: Any) -> None:
        if event in ("call", "c_call"):
            calls["made"] += 1

    with profiled(count):
        yield calls
