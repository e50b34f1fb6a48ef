"""Digests: equal for JSON bodies of equal value, however they are written, and for no others."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.json_body import body_digest, parse

numbers = st.decimals(allow_nan=False, allow_infinity=False) | st.integers()


@pytest.mark.parametrize(
    ("body", "other"),
    [
        (b'{"a": 1, "b": "x"}', b'{"b":"x","a":1}'),
        (b'{"a": null}', b"{}"),
        (b'{"a": {"b": null}}', b'{"a": {}}'),
        (b'{"p": 21.4}', b'{"p": 21.400}'),
        (b'{"p": 21}', b'{"p": 2.1E+1}'),
        (b'{"p": 0}', b'{"p": -0.000}'),
        (b'{"a": "\\u00e9"}', '{"a": "é"}'.encode()),
    ],
)
def test_bodies_of_equal_value_are_the_same(body: bytes, other: bytes) -> None:
    assert body_digest(parse(body)) == body_digest(parse(other))


@pytest.mark.parametrize(
    ("body", "other"),
    [
        (b'{"a": "1"}', b'{"a": 1}'),
        (b'{"a": true}', b'{"a": 1}'),
        (b'{"a": ""}', b"{}"),
        (b'{"a": {}}', b"{}"),
        (b'{"a": []}', b'{"a": [null]}'),
        (b'{"a": [1, 2]}', b'{"a": [2, 1]}'),
        (b'{"p": 21.4}', b'{"p": 21.40000000000000000000000000000000001}'),
        (b'{"p": 1e999}', b'{"p": 1e998}'),
        (b'{"a": "e"}', '{"a": "é"}'.encode()),
        (b'{"a": "1e0"}', b'{"a": 1}'),
    ],
)
def test_other_bodies_are_distinguished(body: bytes, other: bytes) -> None:
    assert body_digest(parse(body)) != body_digest(parse(other))


@given(numbers, numbers)
def test_numbers_are_equal_as_numbers(number: Any, other: Any) -> None:
    assert (body_digest(number) == body_digest(other)) == (Decimal(number) == Decimal(other))


def test_a_number_with_a_huge_exponent_costs_nothing() -> None:
    assert len(body_digest(parse(b'{"p": 1e-999999999}'))) == 64
