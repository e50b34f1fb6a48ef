"""What request headers ask for of a representation."""

import pytest

from api.http.negotiation import is_unchanged


@pytest.mark.parametrize(
    ("header", "expected"),
    [("", False), ('"x-json"', True), ('W/"y-json", W/"x-json"', True), ("*", True), ('W/"x-ndjson"', False)],
)
def test_tags_are_compared_weakly(header: str, expected: bool) -> None:  # a header of the table
    assert is_unchanged(header, 'W/"x-json"') is expected
