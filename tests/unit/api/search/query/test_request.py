"""The engine's request for each kind of search, as golden files in tests/golden/queries."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from api.http.json_body import parse
from api.search.parsing.parse import understand
from api.search.query.request import Question, asks_for_price, hit_requests
from api.search.schemas.search import SearchBody
from mappings.fields import FILTERS, SORTS
from mappings.platforms import read_platforms
from tests.conftest import GOLDEN, Golden

CASES: dict[str, str] = {
    "everything": "{}",
    "blank": '{"query": " \\u0000\\t "}',
    "words": '{"query": "ak-47 redline"}',
    "accents": '{"query": "Jörmungandr ★ StatTrak™"}',
    "decomposed": '{"query": "Jo\\u0308rmungandr"}',
    "foreign": '{"query": "龍王"}',
    "marks": '{"query": "♥ $"}',
    "star": '{"query": "★"}',
    "beginning": '{"query": "ak redl"}',
    "finished": '{"query": "asiimov redline "}',
    "codes": '{"query": "m4 redline ft st"}',
    "slang": '{"query": "titan holo kato 2014"}',
    "case": '{"query": "case"}',
    "amounts": '{"query": "blaze 20-50 <0.01 #661"}',
    "pattern_or_seed": '{"query": "blaze pattern 661"}',
    "explained": '{"query": "redline ", "explain": true}',
    "relevance_without_query": '{"sort": "relevance"}',
    "page": '{"page": 500, "limit": 20}',
    "nulls": '{"platform": null, "query": null, "filters": null, "limit": null, "page": null, "sort": null}',
    "empty_filters": '{"filters": {"price": {}, "weapon": [], "type": null, "float": {"min": null}}}',
    "price": '{"filters": {"price": {"min": 5, "max": 50}}}',
    "price_between_cents": '{"filters": {"price": {"min": 5.001, "max": 50.009}}}',
    "price_open": '{"filters": {"price": {"max": 1e2}}}',
    "weapon": '{"filters": {"weapon": ["AK-47", "AWP", "AK-47"]}}',
    "type": '{"filters": {"type": ["Rifle"]}}',
    "rarity": '{"filters": {"rarity": ["Covert"]}}',
    "exterior": '{"filters": {"exterior": ["Field-Tested", "minimal  wear"]}}',
    "quality": '{"filters": {"quality": ["StatTrak", "★"]}}',
    "quality_star": '{"filters": {"quality": [" ★ "]}}',
    "phase": '{"filters": {"phase": ["Phase 2"]}}',
    "set": '{"filters": {"set": ["The Phoenix Collection"]}}',
    "tournament": '{"filters": {"tournament": ["Katowice 2014"]}}',
    "color": '{"filters": {"color": ["War Pig Pink"]}}',
    "float": '{"filters": {"float": {"min": 0.07, "max": 0.0701}}}',
    "seed": '{"filters": {"seed": [661, 670, 661]}}',
    "paintIndex": '{"filters": {"paintIndex": [282]}}',
    "pattern": '{"filters": {"pattern": [0]}}',
    "ids": '{"filters": {"ids": [40000000001, -1]}}',
    "attachments": '{"filters": {"attachments": {"all": [{"name": "Sticker | NiKo"}, {"name": "Crown", "count": 4}], '
    '"any": [{"name": "★", "maxWear": 0.1}, {"name": " Ōni™", "count": 2, "maxWear": 0.5}], "count": {"min": 1}}}}',
    "attachments_wear": '{"filters": {"attachments": {"all": [{"name": "x", "minWear": 0.05, "maxWear": 0.1}]}}}',
    "attachments_any": '{"filters": {"attachments": {"any": [{"name": "x", "minWear": 0}], "all": null}}}',
    "attachments_count": '{"filters": {"attachments": {"all": [], "any": [], "count": {"min": 0, "max": 4}}}}',
    "attachments_empty": '{"filters": {"attachments": {"all": [], "count": {"min": null}}}}',
    "all_at_once": '{"query": "redline", "filters": {"price": {"min": 1}, "weapon": ["AK-47"], "exterior": ["FT"]}, '
    '"limit": 100, "page": 2, "sort": "float_asc"}',
    **{f"sort_{sort.name}": json.dumps({"query": "x", "sort": sort.name}) for sort in SORTS},
}


PLATFORMS = list(read_platforms())


def question(text: str) -> Question:
    body = SearchBody.model_validate(parse(text.encode()))
    return Question(body, understand(body.query, PLATFORMS), minor_digits=2)


@pytest.mark.parametrize("name", CASES)
def test_each_search_is_asked_as_in_its_golden_file(name: str, golden: Golden) -> None:
    asked = question(CASES[name])
    requests = dict(zip(("request", "count"), hit_requests(asked), strict=False))
    golden(f"queries/{name}", {"body": json.loads(CASES[name]), **requests})


def test_every_filter_and_sort_has_a_case_and_every_golden_file_is_used() -> None:
    assert {row.name for row in FILTERS} | {f"sort_{sort.name}" for sort in SORTS} <= set(CASES)
    assert {file.stem for file in Path(GOLDEN / "queries").glob("*.json")} == set(CASES)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, True),
        ({"query": "x"}, False),
        ({"query": "x", "sort": "price_desc"}, True),
        ({"query": "x", "filters": {"price": {"max": Decimal(5)}}}, True),
        ({"query": "x", "filters": {"price": {}}}, False),
        ({"sort": "float_asc"}, False),
        ({"sort": "float_asc", "facets": ["float"]}, False),
        ({"sort": "float_asc", "groupBy": "name"}, True),
        ({"sort": "float_asc", "facets": ["float", "price"]}, True),
        ({"sort": "relevance"}, True),
    ],
)
def test_an_answer_depends_on_prices_by_filter_by_facet_by_group_or_by_sort(
    body: dict[str, Any], expected: bool
) -> None:  # a table's column
    asked = SearchBody.model_validate(body)
    assert asks_for_price(asked, understand(asked.query, PLATFORMS)) is expected
