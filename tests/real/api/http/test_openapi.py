"""The description holds: what it allows is taken, what it forbids is refused, every answer is as it says."""

import re
from collections import Counter
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import jsonschema_rs
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.errors import ERRORS
from tests.support.api.described_examples import ITEM
from tests.support.examples import examples

Document = dict[str, Any]

OPERATIONS = [
    ("post", "/v1/gear/search"),
    ("get", "/v1/gear/suggest"),
    ("post", "/v1/gear/changes"),
    ("get", "/v1/gear/prices"),
    ("get", "/v1/gear/{id}"),
    ("get", "/v1/platforms"),
    ("post", "/v1/gear"),
    ("post", "/v1/gear/cheapest"),
    ("get", "/v1/orders/{id}"),
    ("put", "/v1/catalogue/{platform}/items"),
    ("delete", "/v1/catalogue/{platform}/items"),
    ("get", "/metrics"),
    ("get", "/v1/orders"),
    ("post", "/v1/orders/{id}/transitions"),
    ("get", "/v1/orders/{id}/fulfilment"),
    ("get", "/v1/orders/{id}/deliveries"),
    ("post", "/v1/orders/{id}/deliveries/{n}/replay"),
    ("get", "/v1/vocabulary"),
    ("post", "/v1/vocabulary"),
    ("post", "/v1/vocabulary/test"),
    ("delete", "/v1/vocabulary/{id}"),
    ("get", "/v1/searches/unanswered"),
    ("post", "/v1/searches"),
    ("get", "/v1/searches"),
    ("get", "/v1/searches/{id}"),
    ("delete", "/v1/searches/{id}"),
    ("get", "/v1/operations"),
    ("get", "/health/live"),
    ("get", "/health/ready"),
]
CHECKS: list[Any] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]
# Rules that a JSON schema cannot express: what is allowed by the schema may still be refused with these.
BEYOND_SCHEMAS = ("unknown_platform", "page_window_exceeded", "idempotency_key_reused")
# The fields that have such rules: links and ids of buyers, prices of which one excludes the other, entries of a
# vocabulary, of which there is one and which must mean something.
BUYERS = re.compile(r"additionalFields\.(platformId|tradeLink)|(success|failure|callback)Url|maxPrice")
ENTRIES = re.compile(r"|term|(pin|hide)\.texts\.\d+")
OWN_RULES = {
    "/v1/gear": BUYERS,
    "/v1/gear/cheapest": BUYERS,
    "/v1/vocabulary": ENTRIES,
    "/v1/vocabulary/test": ENTRIES,
}
every_operation = pytest.mark.parametrize(("method", "path"), OPERATIONS)


@pytest.fixture(scope="module")
def document(served: httpx.Client) -> Document:
    """The description as it is served."""
    description: Document = served.get("/openapi.json").json()
    return description


@pytest.fixture(scope="module")
def schema(document: Document) -> BaseSchema:
    """The description as Schemathesis reads it."""
    return schemathesis.openapi.from_dict(document)


def test_every_operation_is_tested_here(document: Document) -> None:
    described = {(method, path) for path, operations in document["paths"].items() for method in operations}
    assert described == set(OPERATIONS)


def refused_beyond_the_schema(case: Any, response: requests.Response) -> bool:
    if response.status_code != 422:
        return False
    error = response.json()["error"]
    if [detail["field"] for detail in error["details"]] in (["cursor"], ["since"]):
        return True  # a schema does not know which cursors and bookmarks were given out
    if any(phrase in error["message"] for phrase in ("a cursor has no pages", "a cursor walks over single items")):
        return True  # nor that one of two optional fields excludes the other
    if error["code"] in BEYOND_SCHEMAS:
        return True
    compared = (" is more than max", "count and minWear cannot be asked together")  # one field with another
    times = ("within the years 1970 to 2261", "ahead of the clock")  # that a change may have
    own_rules = OWN_RULES.get(case.operation.path)
    return all(
        any(phrase in detail["message"] for phrase in (*compared, *times))
        or (own_rules is not None and own_rules.fullmatch(detail["field"]) is not None)
        for detail in error["details"]
    )


def lost_on_the_way(case: Any, response: requests.Response) -> bool:
    """Whether a parameter was made up with nothing in it, which a client sends as no parameter at all, or as a list
    of one value, which it sends as the value.
    """
    query = case.query or {}
    sent = parse_qs(urlsplit(response.request.url or "").query, keep_blank_values=True)
    return not set(query) <= set(sent) or any(isinstance(value, list) and len(value) == 1 for value in query.values())


def ask_by_the_schema(schema: BaseSchema, served: httpx.Client, method: str, path: str, mode: GenerationMode) -> None:
    """Sends requests that the schema allows or forbids, and checks each answer against the description."""
    operation = schema[path][method]
    headers = {"Authorization": served.headers["Authorization"]}
    count = examples(15, 60) if operation.body else examples(8, 32)
    statuses = Counter[int]()
    with requests.Session() as session:

        @settings(max_examples=count, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            body = case.body if isinstance(case.body, dict) else {}
            if mode is GenerationMode.POSITIVE and isinstance(body.get("platform"), str):
                body["platform"] = "cs2"  # any text is one by the schema, and all but a few are unknown
            wait = body.get("wait")
            if isinstance(wait, int | float) and wait is not True and wait in range(1, 31):  # 7.0 is an integer too
                body["wait"] = 0  # nothing changes here to wait for
            response = case.call(base_url=str(served.base_url), session=session, headers=headers)
            statuses[response.status_code] += 1
            # a refusal too, which the library's own list of them lacks
            checks = (
                CHECKS
                if response.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or lost_on_the_way(case, response)
                else [*CHECKS, negative_data_rejection]
            )
            if not refused_beyond_the_schema(case, response):
                checks = [*checks, positive_data_acceptance]
            case.validate_response(response, checks=checks)

        ask()
    assert mode is GenerationMode.NEGATIVE or set(statuses) != {HTTPStatus.UNPROCESSABLE_ENTITY}, "all were refused"


@every_operation
def test_what_the_schema_allows_is_taken(schema: BaseSchema, served: httpx.Client, method: str, path: str) -> None:
    ask_by_the_schema(schema, served, method, path, GenerationMode.POSITIVE)


@pytest.mark.parametrize(
    ("method", "path"), [operation for operation in OPERATIONS if not operation[1].startswith("/health/")]
)
def test_what_the_schema_forbids_is_refused(schema: BaseSchema, served: httpx.Client, method: str, path: str) -> None:
    ask_by_the_schema(schema, served, method, path, GenerationMode.NEGATIVE)


def test_the_description_is_valid(document: Document) -> None:
    jsonschema_rs.validator_for({"$ref": "#/components/schemas/SearchBody", **document})
    assert document["openapi"].startswith("3.1")
    assert set(document["components"]["securitySchemes"]) == {"HTTPBearer"}
    for method, path in OPERATIONS:
        operation = document["paths"][path][method]
        assert operation["summary"]
        assert operation["description"]
        assert bool(operation.get("security")) == (not path.startswith("/health/"))


def examples_of(content: dict[str, Any]) -> list[Any]:
    single = [content["example"]] if "example" in content else []
    return single + [named["value"] for named in content.get("examples", {}).values()]


@every_operation
def test_every_request_example_is_answered_as_described(
    document: Document, served: httpx.Client, method: str, path: str
) -> None:
    operation = document["paths"][path][method]
    described = operation.get("requestBody", {"content": {"application/json": {"example": None}}})
    for example in examples_of(described["content"]["application/json"]):
        body = {**example, "wait": 0} if path == "/v1/gear/changes" else example
        address = path.replace("{id}", str(ITEM["id"]) if "gear" in path else "x").replace("{n}", "1")
        response = served.request(method, address, json=body)
        assert str(response.status_code) in operation["responses"], response.text
        assert response.status_code not in (400, 401, 403, 415, 500), response.text
        if path == "/v1/gear/search":
            assert response.status_code == 200


@every_operation
def test_every_answer_names_its_headers(document: Document, method: str, path: str) -> None:
    for status, response in document["paths"][path][method]["responses"].items():
        needed = {"401": {"WWW-Authenticate"}, "429": {"Retry-After"}, "503": {"Retry-After"}, "201": {"Location"}}
        assert set(response["headers"]) >= {"X-Request-Id", *needed.get(status, set())}
        assert response["description"]


def test_every_error_code_is_described_where_it_can_happen(document: Document) -> None:
    described = {code for operation in operations(document) for code in codes_of(operation)}
    # whoever gets these has not met an operation
    assert set(ERRORS) - described == {"method_not_allowed"}
    for method, path in OPERATIONS:
        codes = codes_of(document["paths"][path][method])
        assert {"internal", "validation_failed"} <= codes
        if not path.startswith("/health/"):
            assert {"unauthorized", "forbidden", "rate_limited", "store_unavailable"} <= codes
        if method == "post" and path in ("/v1/gear/search", "/v1/gear"):
            assert {"invalid_json", "body_too_large", "unsupported_media_type"} <= codes


def operations(document: Document) -> list[dict[str, Any]]:
    return [document["paths"][path][method] for method, path in OPERATIONS]


def codes_of(operation: dict[str, Any]) -> set[str]:
    """The error codes that an operation says it can give."""
    return {
        code
        for response in operation["responses"].values()
        for content in response.get("content", {}).values()
        for code in content.get("examples", {})
    }


def test_every_field_of_a_search_is_optional_and_no_other_is_taken(document: Document) -> None:
    body = document["components"]["schemas"]["SearchBody"]
    assert body["additionalProperties"] is False
    names = ["platform", "query", "filters", "limit", "page", "sort", "cursor", "facets", "groupBy", "explain"]
    assert list(body["properties"]) == names
    assert "required" not in body
