"""The description shows of every operation what it takes and answers, in the words of its schema."""

import re
from datetime import datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import jsonschema_rs
import orjson
import pytest

from api.app import create_app
from api.http.openapi import read_examples
from api.settings import Settings
from mappings.timestamps import rfc3339
from tests.support.platforms import shared_platforms

DOCUMENT: dict[str, Any] = create_app(Settings(_env_file=None), shared_platforms()).openapi()
OPERATIONS = {each["operationId"]: each for methods in DOCUMENT["paths"].values() for each in methods.values()}


def contents_of(operation: dict[str, Any]) -> list[dict[str, Any]]:
    """What an operation takes and answers, by type of media."""
    parts = [operation.get("requestBody", {}), *operation["responses"].values()]
    return [content for part in parts for content in part.get("content", {}).values()]


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_content_has_examples_that_are_valid_against_its_schema(name: str) -> None:
    for content in contents_of(OPERATIONS[name]):
        single = [content["example"]] if "example" in content else []
        examples = single + [each["value"] for each in content.get("examples", {}).values()]
        assert examples
        validator = jsonschema_rs.validator_for({**content["schema"], "components": DOCUMENT["components"]})
        for example in examples:
            validator.validate(example)


@pytest.mark.parametrize("file", list((files("api") / "examples").iterdir()), ids=lambda file: file.name)
def test_a_file_of_examples_has_operations_of_its_tag(file: Traversable) -> None:
    tags = {tag for name in orjson.loads(file.read_bytes()) for tag in OPERATIONS[name]["tags"]}
    assert {f"{tag}.json" for tag in tags} == {file.name}


def test_every_operation_declares_its_errors_itself() -> None:
    assert not DOCUMENT["components"]["schemas"].keys() & {"HTTPValidationError", "ValidationError"}, "the framework's"


def test_how_many_items_are_ordered_at_once_has_its_bounds() -> None:
    count = DOCUMENT["components"]["schemas"]["CheapestBody"]["properties"]["count"]
    assert count["anyOf"] == [{"type": "integer", "minimum": 1, "maximum": 20}, {"type": "null"}]


def test_what_is_null_is_shown() -> None:
    response = OPERATIONS["getOrder"]["responses"]["200"]["content"]["application/json"]["example"]
    assert response["order"]["history"][0]["reason"] is None


def test_times_of_answers_are_as_the_service_writes_them() -> None:
    responses = [each.get("response", each.get("responses")) for each in read_examples().values()]
    times = re.findall(r'"(\d{4}-\d\d-\d\dT[^"]*)"', orjson.dumps(responses).decode())
    assert len(times) > 20
    assert [rfc3339(datetime.fromisoformat(time)) for time in times] == times
