"""JSON bodies: what is JSON is taken exactly, what is not is a 400 that says why, whatever a client sends."""

import json
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from api.errors import ApiError
from api.http.json_body import parse
from api.search.schemas.search import SearchBody

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


JSON_TEXTS = JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)


@given(JSON, st.booleans())
def test_any_json_is_read_as_it_is(value: Any, ascii_only: bool) -> None:
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", Decimal("0.1")),
        ("0.0299999999999999999999", Decimal("0.0299999999999999999999")),
        ("1e400", Decimal("1e400")),
        ("-0", 0),
        ("-0.0", Decimal("-0.0")),
        ("1" * 5000, Decimal("1" * 5000)),
        ("0." + "1" * 5000, Decimal("0." + "1" * 5000)),
        ("1E+2", Decimal(100)),
        ("1e-999999999999999999", Decimal("1e-999999999999999999")),
        (str(2**63), 2**63),
        ('"\\ud83d\\ude00"', "😀"),
        ('"\\u0000"', "\0"),
        (' \r\n\t{"a": 1} ', {"a": 1}),
    ],
)
def test_numbers_are_exact_and_pairs_of_surrogates_are_one_character(text: str, value: Any) -> None:
    read = parse(text.encode())
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is empty"),
        (b" \n\t ", "the body is empty"),
        (b"{", "at line 1 column 2"),
        (b'{"a": 1,}', "at line 1 column"),
        (b"{'a': 1}", "at line 1 column 2"),
        (b'{"a": 1} {}', "Extra data"),
        (b"[1] // no", "Extra data"),
        (b"01", "Extra data"),
        (b"+1", "Expecting value"),
        (b".5", "Expecting value"),
        (b"1.", "Extra data"),
        (b"nul", "Expecting value"),
        (b"True", "Expecting value"),
        (b'"\n"', "control character"),
        (b'"\\x41"', "escape"),
        (b"NaN", "NaN is not JSON"),
        (b'{"filters": {"price": {"min": NaN}}}', "NaN is not JSON"),
        (b"Infinity", "Infinity is not JSON"),
        (b"-Infinity", "-Infinity is not JSON"),
        (b'"\\ud800"', "lone surrogate"),
        (b'"\\udc00"', "lone surrogate"),
        (b'"\\ude00\\ud83d"', "lone surrogate"),
        (b'{"\\ud800": 1}', "lone surrogate"),
        (b'[1.5, {"a": ["\\udfff"]}]', "lone surrogate"),
        (b"\xef\xbb\xbf{}", "BOM"),
        ("{}".encode("utf-16"), "not UTF-8"),
        ("{}".encode("utf-16-be"), "at line 1 column"),
        (b'"\xff"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'"\xc0\x80"', "not UTF-8"),
        (b'"\xf4\x90\x80\x80"', "not UTF-8"),
        ('"ö"'.encode("latin-1"), "not UTF-8"),
        (b'{"a": 1, "a": 1}', "the same key twice"),
        (b'{"x": {"a": 1, "\\u0061": 2}}', "the same key twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, "nested too deeply"),
        (b"9" * 5000 + b"x", "Extra data"),
    ],
)
def test_what_is_no_json_is_a_400_that_says_why(body: bytes, message: str) -> None:
    with pytest.raises(ApiError) as refusal:
        parse(body)
    assert refusal.value.code == "invalid_json"
    assert message in refusal.value.message
    assert len(refusal.value.message) < 200


@pytest.mark.parametrize("text", ["1e99999999999999999999", "-1e99999999999999999999", "1e-99999999999999999999"])
@pytest.mark.parametrize("body", ['{"platform": %s}', '{"filters": {"price": {"min": %s}}}'])
def test_a_number_beyond_all_decimals_is_json_but_no_fields_number(text: str, body: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        SearchBody.model_validate(parse((body % text).encode()))
    assert refusal.value.errors()[0]["loc"] in (("platform",), ("filters", "price", "min"))


@pytest.mark.parametrize("depth", [2, 50, 400])
def test_nesting_that_people_use_is_read(depth: int) -> None:
    value = parse(b'{"a":' * depth + b'"\\u0041"' + b"}" * depth)
    for _ in range(depth):
        value = value["a"]
    assert value == "A"


@given(JSON_TEXTS, st.integers(0, 200), st.integers(0, 2), st.binary(max_size=2))
def test_any_bytes_are_read_as_another_parser_reads_them_or_refused(
    text: bytes, place: int, removed: int, inserted: bytes
) -> None:
    body = text[:place] + inserted + text[place + removed :]
    if is_json(body):
        assert orjson.loads(json.dumps(parse(body), default=float)) == orjson.loads(body)
    else:
        with pytest.raises(ApiError) as refusal:
            parse(body)
        assert refusal.value.code == "invalid_json"


def is_json(body: bytes) -> bool:
    """Whether another parser takes it, and no object has a key twice."""
    objects: list[list[tuple[str, Any]]] = []
    try:
        orjson.loads(body)
        json.loads(body, object_pairs_hook=objects.append)
    except ValueError:
        return False
    return all(len(dict(pairs)) == len(pairs) for pairs in objects)
