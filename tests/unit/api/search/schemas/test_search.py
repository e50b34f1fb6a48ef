"""Search bodies: just inside every limit of the contract's table is taken, just outside is refused and named."""

import json
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from api.http.json_body import parse
from api.search.schemas.search import (
    MAX_LIMIT,
    MAX_QUERY_CHARACTERS,
    SearchBody,
    SearchHit,
)
from mappings.fields import FILTERS, SORTS, Kind


def read(body: Any) -> SearchBody:
    return SearchBody.model_validate(parse(json.dumps(body).encode()))


def refused(text: str) -> list[str]:
    """The paths that a body, written as JSON, is refused for."""
    with pytest.raises(ValidationError) as refusal:
        SearchBody.model_validate(parse(text.encode()))
    return [".".join(map(str, error["loc"])) for error in refusal.value.errors()]


NAMES = [row.name for row in FILTERS]
LISTS = [row for row in FILTERS if row.kind in (Kind.FOLDED, Kind.EXACT, Kind.INTEGER)]
RANGES = [row for row in FILTERS if row.kind in (Kind.MONEY, Kind.RANGE)]
PROMISED = {
    "price", "name", "weapon", "type", "rarity", "exterior", "quality", "phase",
    "set", "tournament", "color", "float", "seed", "paintIndex", "pattern", "ids", "attachments",
}  # fmt: skip
BIG = {Kind.MONEY: 10**12, Kind.RANGE: 1}


def test_the_given_and_our_filters_are_there() -> None:
    assert set(NAMES) >= PROMISED
    assert {
        "relevance", "price_asc", "price_desc", "float_asc", "float_desc", "name_asc", "name_desc", "newest",
    } <= {sort.name for sort in SORTS}  # fmt: skip


@pytest.mark.parametrize(
    "body", [{}, dict.fromkeys(("platform", "query", "filters", "limit", "page", "sort", "cursor"))]
)
def test_null_is_absent_and_absent_is_the_default(body: dict[str, Any]) -> None:
    parsed = read(body)
    assert (parsed.platform, parsed.query, parsed.filters, parsed.limit, parsed.page, parsed.sort) == (
        None,
        "",
        None,
        20,
        1,
        None,
    )


def test_null_for_a_filter_is_absent() -> None:
    assert read({"filters": dict.fromkeys(NAMES)}) == read({"filters": {}})
    for row in RANGES:
        assert read({"filters": {row.name: {"min": None, "max": None}}}) == read({"filters": {row.name: {}}})


@pytest.mark.parametrize(
    "body",
    [
        {"query": "x" * MAX_QUERY_CHARACTERS},
        {"query": "😀" * MAX_QUERY_CHARACTERS},
        {"query": "\0" * MAX_QUERY_CHARACTERS},
        {"limit": 1},
        {"limit": MAX_LIMIT},
        {"page": 1},
        {"page": 2**63 - 1},
        {"platform": 0},
        {"platform": -(2**63)},
        {"platform": 2**63 - 1},
        *[{"sort": sort.name} for sort in SORTS],
    ],
)
def test_just_inside_is_taken(body: dict[str, Any]) -> None:
    parsed = read(body)
    for name, value in body.items():
        assert getattr(parsed, name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("query", "x" * 201),
        ("query", 5),
        ("query", True),
        ("query", ["x"]),
        ("query", {}),
        ("limit", 0),
        ("limit", -1),
        ("limit", 101),
        ("limit", 10**30),
        ("limit", 1.5),
        ("limit", "20"),
        ("limit", True),
        ("limit", []),
        ("page", 0),
        ("page", -1),
        ("page", 2**63),
        ("page", "1"),
        ("page", False),
        ("page", 1.000000000001),
        ("platform", "730"),
        ("platform", "cs2"),
        ("platform", True),
        ("platform", 730.5),
        ("platform", 2**63),
        ("platform", -(2**63) - 1),
        ("platform", [730]),
        ("sort", "price"),
        ("sort", "PRICE_ASC"),
        ("sort", ""),
        ("sort", 1),
        ("sort", ["price_asc"]),
        ("filters", []),
        ("filters", "price"),
        ("filters", True),
        ("colour", None),
        ("Limit", 5),
        ("body", 1),
    ],
)
def test_just_outside_is_refused_and_named(name: str, value: Any) -> None:
    assert refused(json.dumps({name: value})) == [name]


@pytest.mark.parametrize("text", ["1.0", "1e0", "10e-1", "0.1e1", "1.000000000000000000000000000"])
@pytest.mark.parametrize("name", ["limit", "page", "platform"])
def test_an_integer_may_be_written_with_a_fraction_or_an_exponent(name: str, text: str) -> None:
    parsed = getattr(SearchBody.model_validate(parse(f'{{"{name}": {text}}}'.encode())), name)
    assert (parsed, type(parsed)) == (1, int)


@pytest.mark.parametrize(
    "text", ["1e400", "1e999999999999999999", "-1e400", "9" * 5000, "1e-400", "1e-999999999999999999"]
)
def test_numbers_of_any_size_are_judged_at_once(text: str) -> None:
    assert refused(f'{{"limit": {text}}}') == ["limit"]
    assert refused(f'{{"filters": {{"ids": [1, {text}]}}}}') == ["filters.ids.1"]
    if "e-" not in text:
        assert refused(f'{{"filters": {{"price": {{"min": {text}}}}}}}') == ["filters.price.min"]
        assert refused(f'{{"filters": {{"float": {{"max": {text}}}}}}}') == ["filters.float.max"]


@pytest.mark.parametrize("row", LISTS, ids=lambda row: row.name)
def test_lists_are_taken_up_to_their_limit(row: Any) -> None:
    good: Any = 1 if row.kind is Kind.INTEGER else "x"
    most = row.max_values
    if row.name in PROMISED:
        assert most == {"seed": 1000, "ids": 1000}.get(row.name, 100)
    assert getattr(read({"filters": {row.name: [good] * most}}).filters, row.name) == [good] * most
    assert getattr(read({"filters": {row.name: []}}).filters, row.name) == []
    assert refused(json.dumps({"filters": {row.name: [good] * (most + 1)}})) == [f"filters.{row.name}"]
    value: Any
    for value in (good, {}, True):
        assert refused(json.dumps({"filters": {row.name: value}})) == [f"filters.{row.name}"]
    too_long = "x" * (513 if row.kind is Kind.EXACT else 101)
    others: list[Any] = ["1", 1.5, 2**63] if row.kind is Kind.INTEGER else [1, "", too_long]
    for value in (None, True, [], {}, *others):
        assert refused(json.dumps({"filters": {row.name: [good, value]}})) == [f"filters.{row.name}.1"]


@pytest.mark.parametrize("value", ["x" * 100, "😀" * 100, " ", "\0", "★"])
def test_values_may_be_any_text_of_1_to_100_characters(value: str) -> None:
    filters: Any = read({"filters": {"weapon": [value]}}).filters
    assert filters.weapon == [value]


@pytest.mark.parametrize("row", RANGES, ids=lambda row: row.name)
def test_ranges_are_taken_up_to_their_limit(row: Any) -> None:
    most = BIG[row.kind]
    for bounds in (
        {},
        {"min": 0},
        {"max": most},
        {"min": 0, "max": most},
        {"min": 1, "max": 1},
        {"min": None, "max": 0},
    ):
        parsed = getattr(read({"filters": {row.name: bounds}}).filters, row.name)
        assert (parsed.min, parsed.max) == (bounds.get("min"), bounds.get("max"))
    place = f"filters.{row.name}"
    value: Any
    for value in (-1, most + 1, "1", True, [], {}):
        assert refused(json.dumps({"filters": {row.name: {"min": value}}})) == [f"{place}.min"]
        assert refused(json.dumps({"filters": {row.name: {"max": value}}})) == [f"{place}.max"]
    assert refused(f'{{"filters": {{"{row.name}": {{"min": -0.000000000000000000001}}}}}}') == [f"{place}.min"]
    assert refused(f'{{"filters": {{"{row.name}": {{"max": {most}.000000000000000000001}}}}}}') == [f"{place}.max"]
    assert refused(f'{{"filters": {{"{row.name}": {{"min": 0.2, "max": 0.1999999999999999999999}}}}}}') == [place]
    assert refused(json.dumps({"filters": {row.name: {"mini": 1}}})) == [f"{place}.mini"]
    for value in ([0, 1], 5, "0-1", True):
        assert refused(json.dumps({"filters": {row.name: value}})) == [place]


def test_prices_are_preserved_digit_by_digit() -> None:
    body = SearchBody.model_validate(parse(b'{"filters": {"price": {"min": 0.10000000000000000000001}}}'))
    filters: Any = body.filters
    assert filters.price.min == Decimal("0.10000000000000000000001")


def test_unknown_filters_and_several_faults_are_all_named() -> None:
    body = {"limit": 0, "page": 0, "filters": {"colour": ["red"], "weapon": ["", None]}, "foo": 1}
    assert sorted(refused(json.dumps(body))) == [
        "filters.colour",
        "filters.weapon.0",
        "filters.weapon.1",
        "foo",
        "limit",
        "page",
    ]


def test_a_hit_has_offers_only_where_groups_were_asked_for() -> None:
    schema = SearchHit.model_json_schema(mode="serialization")
    assert "offers" in schema["properties"]
    assert "offers" not in schema["required"]
