"""Bookmarks of the change feed: what was given out is read again, and nothing else."""

import pytest

from api.changes.bookmark import decode, encode
from api.errors import ApiError
from store.records import LogPosition


def test_a_bookmark_is_read_as_it_was_given_out() -> None:
    position = LogPosition("0123456789abcdef", 42)
    assert decode(encode(position)) == position


@pytest.mark.parametrize(
    "text",
    ["", "*", "0123456789abcdef", "0123456789abcdef.", "0123456789ABCDEF.1", "0123456789abcdef.-1", "g" * 16 + ".1"],
)
def test_anything_else_is_refused_with_its_field(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        decode(text, "Last-Event-ID")
    assert refused.value.code == "validation_failed"
    assert [detail.field for detail in refused.value.details] == ["Last-Event-ID"]
