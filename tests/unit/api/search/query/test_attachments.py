"""The filter on attachments: just inside every limit is taken, what cannot be meant is refused and named."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from api.http.json_body import parse
from api.search.schemas.search import SearchBody
from tests.support.exact_json import dumps


def read(conditions: Any) -> Any:
    """The filter on attachments of a body."""
    body: Any = SearchBody.model_validate(parse(json.dumps({"filters": {"attachments": conditions}}).encode()))
    return body.filters.attachments


def refused(conditions: Any) -> dict[str, str]:
    """The paths below `filters.attachments` that are refused, each with the reason."""
    with pytest.raises(ValidationError) as refusal:
        read(conditions)
    return {".".join(map(str, error["loc"][2:])): error["msg"] for error in refusal.value.errors()}


def test_null_is_absent_and_everything_may_be_absent() -> None:
    assert read(None) is None
    assert read({"all": None, "any": None, "count": None}) == read({}) == read({"all": [], "any": []})
    absent = {"name": "x", "minWear": None, "maxWear": None, "count": None}
    assert read({"all": [absent]}) == read({"all": [{"name": "x"}]})


@pytest.mark.parametrize(
    "condition",
    [
        {"name": "x" * 100},
        {"name": "\0"},
        {"name": "x", "minWear": 0, "maxWear": 1},
        {"name": "x", "minWear": 0.5, "maxWear": 0.5},
        {"name": "x", "count": 1},
        {"name": "x", "count": 2**63 - 1, "maxWear": 0.1},
    ],
)
def test_just_inside_is_taken(condition: dict[str, Any]) -> None:
    attachments = read({"all": [condition] * 20, "any": [condition] * 20})
    assert len(attachments.all) == len(attachments.any) == 20
    assert json.loads(dumps(attachments.all[0].model_dump(by_alias=True, exclude_none=True))) == condition


@pytest.mark.parametrize(
    ("condition", "field"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": ["x"]}, "name"),
        ({"name": "x", "minWear": -0.1}, "minWear"),
        ({"name": "x", "maxWear": 1.1}, "maxWear"),
        ({"name": "x", "maxWear": "0.1"}, "maxWear"),
        ({"name": "x", "count": 0}, "count"),
        ({"name": "x", "count": 1.5}, "count"),
        ({"name": "x", "count": {"min": 1}}, "count"),
        ({"name": "x", "min_wear": 0}, "min_wear"),
        ({"name": "x", "wear": 0}, "wear"),
        (None, ""),
        ("x", ""),
    ],
)
def test_just_outside_is_refused_and_named(condition: Any, field: str) -> None:
    for side in ("all", "any"):
        assert list(refused({side: [{"name": "good"}, condition]})) == [f"{side}.1.{field}".rstrip(".")]


def test_conditions_that_cannot_be_met_or_meant_together_are_refused_with_what_to_do() -> None:
    crossed = refused({"all": [{"name": "x", "minWear": 0.2, "maxWear": 0.1}]})
    assert "minWear 0.2 is more than maxWear 0.1" in crossed["all.0"]
    counted = refused({"any": [{"name": "x", "minWear": 0.2, "count": 2}]})
    assert "ask for count with maxWear" in counted["any.0"]


@pytest.mark.parametrize(
    ("conditions", "field"),
    [
        ({"all": [{"name": "x"}] * 21}, "all"),
        ({"any": [{"name": "x"}] * 21}, "any"),
        ({"all": {"name": "x"}}, "all"),
        ({"count": 4}, "count"),
        ({"count": {"min": -1}}, "count.min"),
        ({"count": {"max": 1.5}}, "count.max"),
        ({"count": {"min": 2, "max": 1}}, "count"),
        ({"count": {"exactly": 1}}, "count.exactly"),
        ({"none": []}, "none"),
        ([{"name": "x"}], ""),
        ("x", ""),
    ],
)
def test_other_shapes_are_refused_and_named(conditions: Any, field: str) -> None:
    assert list(refused(conditions)) == [field]
