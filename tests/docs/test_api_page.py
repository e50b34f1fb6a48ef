"""The API page has every limit in words, and an example of what each option of a search adds."""

import json
from typing import Any

import pytest

from tests.docs.api_page import MAX_LINE, formatted
from tests.docs.limits import limits_of, type_of
from tests.docs.pages import api_page
from tests.support.api.described_examples import EXAMPLES

BODIES = EXAMPLES["search"]["bodies"]
RESPONSES = {name: each["value"] for name, each in EXAMPLES["search"]["responses"].items()}
ADDED = {"facets": "facets", "cursor": "nextCursor", "explain": "interpretation"}


@pytest.mark.parametrize(
    ("described", "shape", "limits"),
    [
        ({"type": "integer", "minimum": 1, "maximum": 100}, "integer", "1 to 100"),
        ({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, "integer", "64-bit"),
        ({"type": "integer", "minimum": 1, "maximum": 2**63 - 1}, "integer", "at least 1"),
        ({"anyOf": [{"type": "string", "maxLength": 200}, {"type": "null"}]}, "string", "up to 200 characters"),
        ({"type": "string", "pattern": "^a+$", "format": "uri"}, "string", "format `uri`, matches `^a+$`"),
        (
            {"type": "array", "maxItems": 1, "items": {"type": "string", "minLength": 1, "maxLength": 100}},
            "list of strings",
            "up to 1 value, each 1 to 100 characters",
        ),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "list of `a`, `b`", ""),
        ({"$ref": "#/components/schemas/Named"}, "`name`", ""),
    ],
)
def test_limits_are_in_words(described: dict[str, Any], shape: str, limits: str) -> None:
    schema = {"components": {"schemas": {"Named": {"type": "string", "const": "name"}}}}
    assert (type_of(schema, described), limits_of(schema, described)) == (shape, limits)


@pytest.mark.parametrize("value", [*BODIES.values(), *RESPONSES.values()])
def test_formatted_examples_are_the_same_json(value: Any) -> None:
    text = formatted(value)
    assert json.loads(text) == value
    assert all(len(line) <= MAX_LINE + 1 for line in text.splitlines() if line.rstrip(",").endswith(("}", "]")))


def test_every_option_of_a_search_has_an_example() -> None:
    for name, response in RESPONSES.items():
        body = BODIES[name]
        assert {added for added in ADDED.values() if added in response} == {
            added for option, added in ADDED.items() if option in body
        }
        assert all(("offers" in item) == ("groupBy" in body) for item in response["gear"])
    assert {added for response in RESPONSES.values() for added in response} >= set(ADDED.values())


@pytest.mark.parametrize(
    "row",
    [
        "| `limit` | integer | 1 to 100 | `20` |",
        "| `q` | query | string | 1 to 100 characters | required |",
        "| `limit` | query | integer | 1 to 20 | `8` |",
        "| `limit` | query | integer | 1 to 100 | `20` |",
        "| `filters.attachments.all[].count` | integer | at least 1 | none |",
        "| `gear[].offers.priceMin`, `gear[].offers.priceMax` | number or null |",
    ],
)
def test_the_page_has_limits_and_nested_fields(row: str) -> None:
    assert row in api_page()
