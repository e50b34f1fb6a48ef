"""Only tokens of ours are decoded; two bodies that mean the same have one fingerprint."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import ApiError
from api.http.json_body import parse
from api.search.context import PointInTime
from api.search.pagination.cursor import (
    Cursor,
    decode,
    encode,
    fingerprint,
)
from api.search.parsing.parse import parse_query
from api.search.query.request import Position, SearchQuery
from api.search.schemas.search import SearchBody
from tests.support.golden import Golden
from tests.support.platforms import shared_platforms
from tests.support.search.engines import NoEngine

KEY = b"k" * 32
PIT = "g-O6QQIKd3RjdXJzb3IteBZFam5kdDRHRFJOYWVRbk1jb2dGSFRnAA=="
NOW = 1_800_000_000_000
CURSOR = Cursor(PIT, False, NOW, "abc", 100, 35_911, [2140, 40_000_000_001, 730], False, NOW, ("gear-730-products",))
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
AFTER = st.lists(
    st.none()
    | st.text()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["Infinity", "-Infinity"]),
    max_size=3,
)


def body(text: str) -> SearchBody:
    return SearchBody.model_validate(parse(text.encode()))


@given(
    pit=st.sampled_from([PIT, PIT.rstrip("="), PIT + "=", "", "ü\n", "a+/b"]),
    shared=st.booleans(),
    after=AFTER,
)
def test_a_token_is_decoded_to_what_was_encoded(pit: str, shared: bool, after: list[Any]) -> None:
    cursor = Cursor(pit, shared, 1, "abc", 2, 3, after, shared, 4, ("a", "b"))
    token = encode(cursor, KEY)
    assert set(token) <= set(URL_SAFE)
    assert decode(token, KEY) == cursor


def test_a_token_of_another_service_is_refused() -> None:
    with pytest.raises(ApiError, match="not a cursor"):
        decode(encode(CURSOR, KEY), b"j" * 32)


@given(data=st.data())
def test_a_changed_token_is_refused(data: st.DataObject) -> None:
    text = encode(CURSOR, KEY)
    place = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, len(text) - place))
    put = data.draw(st.text(alphabet=URL_SAFE + "=+/ \n\0é", max_size=4))
    changed = text[:place] + put + text[place + length :]
    if changed != text:
        with pytest.raises(ApiError, match="not a cursor"):
            decode(changed, KEY)


@given(text=st.text())
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match="not a cursor"):
        decode(text, KEY)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("{}", '{"cursor": "*", "limit": 7}'),
        ("{}", '{"platform": null, "query": "", "filters": {}, "sort": null, "page": null}'),
        ("{}", '{"filters": {"weapon": [], "price": {"min": null}, "type": null}}'),
        ('{"filters": {"price": {"min": 5}}}', '{"filters": {"price": {"min": 5.00, "max": null}}}'),
        ('{"filters": {"price": {"max": 100}}}', '{"filters": {"price": {"max": 1e2}}}'),
        ('{"filters": {"float": {"min": 0}}}', '{"filters": {"float": {"min": -0.0}}}'),
        ('{"filters": {"seed": [5]}, "query": "x"}', '{"query": "x", "filters": {"seed": [5.0]}}'),
    ],
)
def test_bodies_that_mean_the_same_values_are_one(text: str, other: str) -> None:
    assert fingerprint(body(text)) == fingerprint(body(other))


DIFFERENT = [
    "{}",
    '{"platform": 730}',
    '{"query": "x"}',
    '{"query": "X"}',
    '{"sort": "price_asc"}',
    '{"sort": "newest"}',
    '{"filters": {"price": {"min": 0}}}',
    '{"filters": {"price": {"max": 0}}}',
    '{"filters": {"price": {"min": 5.000000000000000000000000000000000001}}}',
    '{"filters": {"price": {"min": 5}}}',
    '{"filters": {"weapon": ["AK-47"]}}',
    '{"filters": {"weapon": ["AK-47", "AWP"]}}',
    '{"filters": {"set": ["AK-47"]}}',
]


def test_bodies_that_mean_other_values_are_not() -> None:
    assert len({fingerprint(body(text)) for text in DIFFERENT}) == len(DIFFERENT)


def test_a_cursor_is_requested_as_in_its_golden_files(golden: Golden) -> None:
    started = body('{"query": "redline", "limit": 50, "sort": "price_desc", "cursor": "*"}')
    query = SearchQuery(started, parse_query(started.query, list(shared_platforms())))
    pit = PointInTime(NoEngine(), PIT, shared=False, keep_seconds=330, products=())
    for name, position in (
        ("first", Position()),
        ("next", Position(CURSOR.count, CURSOR.total, CURSOR.after)),
        ("last", Position(CURSOR.total - 50, CURSOR.total, CURSOR.after)),
    ):
        (request,) = replace(query, position=position).hit_requests
        golden(f"cursors/{name}", pit.request(request))
