"""The requests that count facets, as golden files in tests/golden/facets, and what is made of their answers."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from api.engine.clauses import any_of
from api.engine.responses import EngineResponse
from api.http.json_body import parse
from api.search.context import Index
from api.search.facets.facets import (
    MAX_BUCKETS,
    FacetCounting,
    RefreshedError,
    counts_of,
    facet_requests,
    facet_values,
    has_empty_selected,
)
from api.search.facets.histograms import (
    counts_by_bucket,
    extremes_of,
    extremes_request,
    histogram,
)
from api.search.parsing.parse import parse_query
from api.search.query.request import SearchQuery
from api.search.schemas.facets import MAX_VALUES
from api.search.schemas.search import SearchBody
from mappings.fields import FACETS, Filter
from mappings.histograms import FLOAT_EDGES, NO_BUCKET, bucket_of, price_edges
from mappings.money import NO_PRICE
from tests.support.golden import GOLDEN, Golden
from tests.support.platforms import shared_platforms
from tests.support.search.engines import ScriptedEngine

CASES: dict[str, str] = {
    **{row.name: json.dumps({"facets": [row.name]}) for row in FACETS},
    "several_share_one_request": '{"query": "redline", "facets": ["weapon", "price"]}',
    "a_selection_does_not_narrow_its_own": '{"filters": {"weapon": ["AK-47"], "exterior": ["FT"], "price": {"max": 5}, '
    '"seed": [1]}, "facets": ["weapon", "type", "price"]}',
    "a_price_range_in_parts": '{"filters": {"weapon": ["AK-47"], "price": {"min": 3, "max": 60}}, '
    '"facets": ["weapon", "float", "price"]}',
    "no_selection": '{"filters": {"weapon": [], "price": {"min": null}}, "facets": ["weapon", "price"]}',
    "named_twice": '{"facets": ["type", "type"]}',
    "none": '{"facets": []}',
    "null": '{"facets": null}',
}
PLATFORMS = list(shared_platforms())
PRICE, FLOAT = (next(row for row in FACETS if row.name == name) for name in ("price", "float"))


def query_of(text: str) -> SearchQuery:
    body = SearchBody.model_validate(parse(text.encode()))
    return SearchQuery(body, parse_query(body.query, PLATFORMS))


@pytest.mark.parametrize("name", CASES)
def test_each_facet_is_asked_as_in_its_golden_file(name: str, golden: Golden) -> None:
    in_parts = name == "a_price_range_in_parts"
    requests = [body for each in facet_requests(query_of(CASES[name]), in_parts=in_parts) for body in each.bodies]
    golden(f"facets/{name}", {"body": json.loads(CASES[name]), "requests": requests})


def test_every_golden_file_is_used() -> None:
    assert {file.stem for file in Path(GOLDEN / "facets").glob("*.json")} == set(CASES)


def test_everything_that_can_be_asked_at_once_stays_below_the_engines_buckets() -> None:
    (request,) = facet_requests(query_of(json.dumps({"facets": [row.name for row in FACETS]})))
    aggregations = request.bodies[0]["aggregations"].values()
    assert sum(aggregation["terms"]["size"] for aggregation in aggregations) < 65_535


def values(listed: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(entry["value"], entry["count"]) for entry in listed]


def test_values_are_listed_with_most_items_first_then_by_code_points() -> None:
    counts = {"b": 2, "龍": 9, "C": 2, "\U0001f600": 2, "\uffe6": 2, "none": 0}
    listed = [("龍", 9), ("C", 2), ("b", 2), ("\uffe6", 2), ("\U0001f600", 2)]
    assert values(facet_values(counts, [], {})) == listed


def test_spellings_that_a_filter_finds_together_have_the_count_of_all_of_them() -> None:
    counts = {"★ StatTrak™": 2, "StatTrak™": 5, "Normal": 6, "★": 1, "★★": 1}
    listed = [("StatTrak™", 7), ("★ StatTrak™", 7), ("Normal", 6), ("★", 1), ("★★", 1)]
    assert values(facet_values(counts, [], {})) == listed


def test_a_selected_value_is_listed_as_the_platform_spells_it_also_with_no_items() -> None:
    counts = {"Normal": 6, "StatTrak™": 0, "Gone™": 0}
    assert has_empty_selected(counts, ["stattrak"])
    assert not has_empty_selected(counts, ["Normal", "unknown"])
    assert values(facet_values(counts, ["stattrak", "gone"], {"StatTrak™": 3})) == [("Normal", 6), ("StatTrak™", 0)]


def test_of_more_than_500_values_those_with_most_items_and_the_selected_are_listed() -> None:
    counts = {f"{number:04}": 1000 - number for number in range(700)}
    listed = values(facet_values(counts, ["0650"], {}))
    assert listed == [*list(counts.items())[:MAX_VALUES], ("0650", 350)]


def test_an_answer_that_is_full_may_lack_values() -> None:
    buckets = [{"key": str(number), "doc_count": 1} for number in range(MAX_BUCKETS)]
    weapon = next(row for row in FACETS if row.name == "weapon")
    assert counts_of(weapon, {"aggregations": {"weapon": {"buckets": buckets}}}) is None
    assert counts_of(weapon, {"aggregations": {"weapon": {"buckets": buckets[:2]}}}) == {"0": 1, "1": 1}


def edges_of(row: Filter, minor_digits: int) -> Sequence[float]:
    return price_edges(minor_digits) if row is PRICE else FLOAT_EDGES


def engine_counts(row: Filter, minor_digits: int, numbers: list[float]) -> EngineResponse:
    """What the engine answers to the aggregations for these values."""
    bucket_counts = Counter(bucket_of(value, edges_of(row, minor_digits)) for value in numbers)
    ends = {bucket_of(value, edges_of(row, minor_digits)) for value in (min(numbers), max(numbers))} if numbers else ()
    count = sum(bucket_counts[end] for end in ends)
    extremes = {"count": count, "min": min(numbers, default=None), "max": max(numbers, default=None)}
    buckets = [{"key": key, "doc_count": count} for key, count in bucket_counts.items()]
    return {"aggregations": {row.name: {"buckets": buckets, "sum_other_doc_count": 0, **extremes}}}


def histogram_of(row: Filter, minor_digits: int, numbers: list[float]) -> Any:
    response = engine_counts(row, minor_digits, numbers)
    counts = counts_by_bucket(row, minor_digits, response) or {}
    return histogram(row, minor_digits, counts, extremes_of(row, [response], counts) if counts else None)


@pytest.mark.parametrize(
    ("row", "minor_digits", "numbers", "buckets"),
    [
        (PRICE, 2, [0], [(0.0, 0.01, 1)]),
        (PRICE, 2, [3, 4, 5, 21], [(0.02, 0.05, 2), (0.05, 0.1, 1), (0.1, 0.2, 0), (0.2, 0.5, 1)]),
        (PRICE, 2, [10**14], [(5e11, 1e12, 1)]),
        (PRICE, 0, [0, 1], [(0.0, 1.0, 1), (1.0, 2.0, 1)]),
        (PRICE, 0, [10**12], [(5e11, 1e12, 1)]),
        (FLOAT, 2, [0.07, 0.0699999999999999], [(0.06, 0.07, 1), (0.07, 0.08, 1)]),
        (FLOAT, 2, [0.29], [(0.29, 0.3, 1)]),
        (FLOAT, 2, [1.0, 0.99], [(0.99, 1.0, 2)]),
    ],
)
def test_a_histogram_has_the_occupied_part_of_a_fixed_ladder(
    row: Filter, minor_digits: int, numbers: list[float], buckets: list[tuple[float, float, int]]
) -> None:
    facet = histogram_of(row, minor_digits, numbers)
    unit = 10**minor_digits if row is PRICE else 1
    assert (facet["min"], facet["max"]) == (min(numbers) / unit, max(numbers) / unit)
    assert [(bucket["from"], bucket["to"], bucket["count"]) for bucket in facet["buckets"]] == buckets


def test_a_histogram_of_nothing_has_no_span_and_no_buckets() -> None:
    for row in (PRICE, FLOAT):
        assert histogram_of(row, 2, []) == {"min": None, "max": None, "buckets": []}


def counting(
    text: str, response: Callable[[Any], EngineResponse], *, in_parts: bool = False
) -> tuple[FacetCounting, ScriptedEngine]:
    engine = ScriptedEngine(response)
    return FacetCounting(Index(engine, tuple(PLATFORMS)), query_of(text), in_parts=in_parts), engine


def counted(name: str, **counts: int) -> EngineResponse:
    buckets = [{"key": value, "doc_count": count} for value, count in counts.items()]
    return {"aggregations": {name: {"buckets": buckets, "sum_other_doc_count": 0}}}


async def test_facets_are_counted_beside_the_first_requests_of_a_page() -> None:
    facets, engine = counting('{"facets": ["type"]}', lambda body: counted("type", Knife=2) if body else {"hits": {}})
    assert await facets.search_all([{}, {}]) == [{"hits": {}}] * 2
    assert await facets.search_all([{}]) == [{"hits": {}}]
    assert await facets.facets() == {"type": [{"value": "Knife", "count": 2}]}
    assert engine.sizes == [3, 1]


async def test_counts_of_the_parts_of_a_price_range_are_added() -> None:
    def response(body: Any) -> EngineResponse:
        prices = body["query"]["bool"]["filter"][1]["range"]["price.ascending"]
        return counted("type", Knife=prices["lte"], **({"Glove": 7} if prices["gte"] else {}))

    facets, engine = counting('{"filters": {"price": {"max": 60}}, "facets": ["type"]}', response, in_parts=True)
    assert await facets.facets() == {"type": [{"value": "Knife", "count": 11_000}, {"value": "Glove", "count": 7}]}
    assert engine.sizes == [2]


async def test_the_extremes_of_a_histogram_are_those_of_all_parts_of_a_price_range() -> None:
    responses: dict[int, list[float]] = {5000: [0.291, 0.4], 6000: [0.295, 0.407]}

    def of_part(body: Any) -> EngineResponse:
        query = body["query"]["bool"]["filter"]
        clauses = query if "range" in query[1] else query[0]["bool"]["filter"]
        return engine_counts(FLOAT, 2, responses[clauses[1]["range"]["price.ascending"]["lte"]])

    facets, engine = counting('{"filters": {"price": {"max": 60}}, "facets": ["float"]}', of_part, in_parts=True)
    values = await facets.facets()
    assert values is not None
    assert (values["float"]["min"], values["float"]["max"]) == (0.291, 0.407)
    assert [(bucket["from"], bucket["count"]) for bucket in values["float"]["buckets"] if bucket["count"]] == [
        (0.29, 2),
        (0.4, 2),
    ]
    assert [len(bodies) for bodies in engine.round_trips] == [2, 2]


async def test_facets_that_no_page_took_along_ask_for_themselves() -> None:
    facets, engine = counting('{"facets": ["type"]}', lambda _: counted("type", Knife=2))
    assert await facets.facets() == {"type": [{"value": "Knife", "count": 2}]}
    assert engine.sizes == [1]


async def test_without_facets_nothing_is_counted() -> None:
    facets, engine = counting("{}", lambda _: {"hits": {}})
    assert await facets.facets() is None
    assert await facets.search_all([{}]) == [{"hits": {}}]
    assert engine.sizes == [1]


async def test_the_extremes_of_a_histogram_are_looked_for_in_its_first_and_last_bucket() -> None:
    stored = {FLOAT: [0.29, 0.4], PRICE: []}
    response = {
        name: aggregation
        for row in stored
        for name, aggregation in engine_counts(row, 2, stored[row])["aggregations"].items()
    }
    response["price"] = {"buckets": [{"key": NO_BUCKET, "doc_count": 2}], "sum_other_doc_count": 0}
    facets, engine = counting('{"facets": ["float", "price"]}', lambda _: {"aggregations": response})
    (facet_request,) = facet_requests(query_of('{"facets": ["float", "price"]}'))
    values = await facets.facets()
    assert values is not None
    assert [bucket["count"] for bucket in values["float"]["buckets"]] == [1, *[0] * 10, 1]
    assert values["price"] == {"min": None, "max": None, "buckets": []}
    assert [len(bodies) for bodies in engine.round_trips] == [1, 1]
    (request,) = engine.round_trips[1]
    ranges = [{"range": {"float": {"gte": low, "lt": high}}} for low, high in ((0.29, 0.3), (0.4, 0.41))]
    assert request["query"] == {"bool": {"filter": [facet_request.query, any_of(ranges)]}}


@pytest.mark.parametrize(
    ("row", "bucket", "clause"),
    [
        (PRICE, 0, {"price.ascending": {"gte": 0, "lt": 1}}),
        (PRICE, 42, {"price.ascending": {"gte": 5 * 10**13, "lt": NO_PRICE}}),  # which is what has no price
        (FLOAT, 99, {"float": {"gte": 0.99}}),
    ],
)
def test_the_last_bucket_ends_with_the_highest_value_of_all(row: Filter, bucket: int, clause: Any) -> None:
    request = extremes_request(row, 2, {"match_all": {}}, {bucket: 1})
    assert request["query"] == {"bool": {"filter": [{"match_all": {}}, {"range": clause}]}}


@pytest.mark.parametrize("later", [[], [0.2, 0.2]])
async def test_a_histogram_whose_ends_have_other_items_afterwards_is_of_two_moments(later: list[float]) -> None:
    stored = iter([[0.2], later])
    facets, _ = counting('{"facets": ["float"]}', lambda _: engine_counts(FLOAT, 2, next(stored)))
    with pytest.raises(RefreshedError):
        await facets.facets()


@pytest.mark.parametrize(("facet", "bucket"), [("price", "43"), ("float", "100"), ("float", "-1"), ("float", "x")])
async def test_a_bucket_that_a_histogram_does_not_have_contradicts_it(facet: str, bucket: str) -> None:
    facets, _ = counting(json.dumps({"facets": [facet]}), lambda _: counted(facet, **{"1": 2, bucket: 1}))
    with pytest.raises(RefreshedError):
        await facets.facets()


def with_total(response: EngineResponse, total: int) -> EngineResponse:
    return {**response, "hits": {"total": {"value": total}}}


@pytest.mark.parametrize(
    ("text", "response", "fitting", "others"),
    [
        ('{"facets": ["type"]}', with_total(counted("type", Knife=2), 3), [3], [2, 4]),
        (
            '{"filters": {"type": ["knife", "Gloves"]}, "facets": ["type"]}',
            counted("type", Knife=2, **{"Knife™": 1}, Gloves=4, Rifle=8),
            [7],
            [6, 8, 15],
        ),
        (
            '{"filters": {"price": {"min": 0.05, "max": 0.3}}, "facets": ["price"]}',
            engine_counts(PRICE, 2, [3, 4, 5, 21, 22]),
            [1, 2, 3],
            [0, 4],
        ),
        (
            '{"filters": {"price": {"min": 0.05, "max": 0.19}}, "facets": ["price"]}',
            engine_counts(PRICE, 2, [3, 4, 5, 21, 22]),
            [1],
            [0, 2],
        ),
        ('{"filters": {"float": {"min": 1}}, "facets": ["float"]}', engine_counts(FLOAT, 2, [0.5, 0.99]), [0, 1], [2]),
        ('{"filters": {"float": {"max": 0.5}}, "facets": ["float"]}', engine_counts(FLOAT, 2, [0.2, 0.3]), [2], [1]),
    ],
)
async def test_counts_that_the_items_of_the_page_contradict_are_of_two_moments(
    text: str, response: EngineResponse, fitting: list[int], others: list[int]
) -> None:
    for items in fitting:
        assert await counting(text, lambda _: response)[0].facets(items) is not None
    for items in others:
        with pytest.raises(RefreshedError):
            await counting(text, lambda _: response)[0].facets(items)


async def test_a_selected_value_without_hits_is_looked_up_on_the_platform() -> None:
    def response(body: Any) -> EngineResponse:
        return counted("weapon", **({"AWP": 1, "AK-47": 0} if "must_not" in str(body["query"]) else {"AK-47": 9}))

    facets, engine = counting('{"filters": {"weapon": ["ak-47"]}, "facets": ["weapon"]}', response)
    assert await facets.facets() == {"weapon": [{"value": "AWP", "count": 1}, {"value": "AK-47", "count": 0}]}
    assert engine.sizes == [1, 1]


async def test_more_values_than_one_answer_holds_are_read_page_by_page() -> None:
    pages = {None: ("AK-47", 1), "AK-47": ("AWP", 2), "AWP": None}

    def response(body: Any) -> EngineResponse:
        aggregation = body["aggregations"]["weapon"]
        if "composite" not in aggregation:
            return counted("weapon", **{str(number): 1 for number in range(MAX_BUCKETS)})
        page = pages[aggregation["composite"].get("after", {}).get("weapon")]
        if page is None:
            return {"aggregations": {"weapon": {"buckets": []}}}
        key = {"weapon": page[0]}
        return {"aggregations": {"weapon": {"buckets": [{"key": key, "doc_count": page[1]}], "after_key": key}}}

    facets, engine = counting('{"filters": {"weapon": ["AK-47"]}, "facets": ["weapon"]}', response)
    assert await facets.facets() == {"weapon": [{"value": "AWP", "count": 2}, {"value": "AK-47", "count": 1}]}
    # the counts and their three pages, the existing values and their three pages
    assert engine.sizes == [1] * 8
