"""Ids of items as text: canonical decimal alone, so that one item has one spelling."""

import pytest

from api.http.fields import parse_item_id


@pytest.mark.parametrize("number", [0, 7, -7, 40_000_000_001, 2**63 - 1, -(2**63)])
def test_an_id_is_read_from_its_decimal(number: int) -> None:
    assert parse_item_id(str(number)) == number


@pytest.mark.parametrize(
    "text", ["", "-", "+1", "01", "-0", "1.0", "1e3", " 1", "1_0", "٣", "x", str(2**63), str(-(2**63) - 1), "9" * 5_000]
)
def test_any_other_text_is_no_id(text: str) -> None:
    assert parse_item_id(text) is None
