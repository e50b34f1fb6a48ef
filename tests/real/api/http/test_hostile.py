"""Hostile searches: whatever the text and the values are, it is an answer or a 4xx, never a fault."""

import json
import string
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mappings.fields import FILTERS, Kind
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp
from tests.support.examples import examples

TEXTS = [
    "\0" * 200,
    " ".join(string.ascii_lowercase[number % 26] for number in range(100)),
    "".join(chr(0x61 + number % 26) + "-" for number in range(100)),
    "\u202e\u2066kalash\u2069",
    "אקדח كلاشينكوف",
    "😀" * 200,
    "👩‍👩‍👧‍👦" * 28,
    "e\u0301" * 100,
    "\u0301" * 200,
    "\ufffe\uffff\ufeff",
    "\U0010ffff" * 200,
    "\ue000\u0378",
    ".*",
    "(((((((((",
    "[a-z]{1,1000}+?",
    "a" * 200,
    "*" * 200,
    "?" * 200,
    "~" * 200,
    "name:* OR _exists_:price AND NOT bound:false",
    '"unclosed',
    "/.*/",
    "ak-47^1000000",
    "ak~2000000000",
    "<script>alert(1)</script>",
    "'; DROP TABLE orders; --",
    "{{7*7}}${7*7}",
    '{"match_all": {}}',
    "\\u0000\\",
    "％００",
    "ﬃ" * 200,
    "ß" * 200,
    "İ" * 200,
    "ͅ" * 200,
    "½²³①Ⅻ",
    "一二三四五六七八九十" * 20,
    "ก" * 200,
    "\u00ad\u200b\u200d\u2060",
    "\u2028\u2029\x85\xa0",
    "_" * 200,
    "★™♥",
    "-" * 200,
]


@pytest.mark.parametrize("text", TEXTS)
async def test_any_text_is_just_text(app: RunningApp, text: str) -> None:
    assert len(text) <= 200
    for body in ({"query": text}, {"query": text, "sort": "price_asc"}, {"filters": {"weapon": [text[:100]]}}):
        response = await app.search(body)
        assert response.status_code == 200, response.text
        assert response.json()["total"] == len(response.json()["gear"])


@settings(max_examples=examples(40, 160), suppress_health_check=list(HealthCheck))
@given(text=st.text(max_size=200), value=st.text(min_size=1, max_size=100))
async def test_any_characters_are_just_text(app: RunningApp, text: str, value: str) -> None:
    response = await app.search({"query": text, "filters": {"color": [value], "set": [value]}})
    assert response.status_code == 200, response.text


EVERY_LIST = [row.name for row in FILTERS if row.kind is Kind.FOLDED]


async def test_a_body_that_fills_every_limit_is_answered(app: RunningApp) -> None:
    values = [f"{number:02}".ljust(60, "龍") for number in range(100)]
    for name in EVERY_LIST:
        assert (await app.search({"filters": {name: [value.ljust(100, "x") for value in values]}})).status_code == 200
    filters: dict[str, Any] = {name: [str(number) for number in range(100)] for name in EVERY_LIST}
    filters |= {name: list(range(2**63 - 100, 2**63)) for name in ("paintIndex", "pattern")}
    filters |= {name: list(range(1000)) for name in ("seed", "ids")}
    filters |= {"price": {"min": 0, "max": 10**12}, "float": {"min": 0, "max": 1}}
    body = {"query": " ".join("ab" * 50)[:200], "filters": filters, "limit": 100, "page": 100, "sort": "float_desc"}
    assert (await app.search(body)).status_code == 200


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"page": 1000000000000000000}', "page_window_exceeded"),
        ('{"page": 1e18}', "page_window_exceeded"),
        ('{"page": 10000000000000000000}', "validation_failed"),
        ('{"page": 1e999999999999999999}', "validation_failed"),
        ('{"page": 1e99999999999999999999}', "validation_failed"),
        ('{"limit": ' + "9" * 60_000 + "}", "validation_failed"),
        ('{"filters": {"price": {"min": 1e13}}}', "validation_failed"),
        ('{"filters": {"price": {"min": 2, "max": 1}}}', "validation_failed"),
        ('{"filters": {"ids": [' + ",".join(["1"] * 1001) + "]}}", "validation_failed"),
        ('{"filters": {"weapon": [[]]}}', "validation_failed"),
        ('{"x":' * 400 + "1" + "}" * 400, "validation_failed"),
        ('{"query": "\\ud800"}', "invalid_json"),
        ('{"filters": {"weapon": ["\\udc00"]}}', "invalid_json"),
        ('{"\\ud800": 1}', "invalid_json"),
        ('{"platform": 9223372036854775807}', "unknown_platform"),
        ('{"platform": -1}', "unknown_platform"),
    ],
)
async def test_what_goes_too_far_is_refused(app: RunningApp, text: str, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    error_of(await app.client.post("/v1/gear/search", content=text, headers=headers), code)


@pytest.mark.parametrize(
    ("low", "high", "total"),
    [
        ("1", "1", 1),
        ("1.0000000000000000000000001", "1.5", 0),
        ("0.9999999999999999999999999", "1", 1),
        ("1e-999999999999999999", "1", 1),
        ("0", "0.99999999999999999999999999999999999999", 0),
        ("-0", "1.0", 1),
    ],
)
async def test_prices_compare_exactly_at_any_number_of_decimals(
    app: RunningApp, low: str, high: str, total: int
) -> None:
    text = f'{{"filters": {{"price": {{"min": {low}, "max": {high}}}}}}}'
    response = await app.client.post("/v1/gear/search", content=text, headers={"Content-Type": "application/json"})
    assert response.json()["total"] == total, response.text


NAMES = st.sampled_from(
    ["query", "filters", "price", "min", "max", "weapon", "limit", "page", "sort", "seed", "platform"]
)
SHAPES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
)


@settings(max_examples=examples(30, 120), suppress_health_check=list(HealthCheck))
@given(body=SHAPES)
async def test_bodies_of_any_shape_are_answered_or_refused(app: RunningApp, body: Any) -> None:
    text = json.dumps(body)
    response = await app.client.post("/v1/gear/search", content=text, headers={"Content-Type": "application/json"})
    assert response.status_code in (200, 400, 422), response.text
