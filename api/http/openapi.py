"""The OpenAPI description, with an example of every response and every error."""

from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

import orjson
from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from api.errors import ERRORS
from api.http.fields import Strict, StrictCamelCase
from api.http.json_body import BODIES
from api.http.request_id import REQUEST_ID_HEADER

EXAMPLE_REQUEST_ID = "0f9a2c41d7b84e0f8a3d5c6b7e8f9a01"
NO_TOKEN: dict[str, Any] = {"security": []}
"""The `openapi_extra` of an operation that anybody may call."""
TOKEN_ERRORS = ("unauthorized", "forbidden", "validation_failed", "rate_limited", "store_unavailable")
"""What every operation that needs a token may answer."""
BODY_ERRORS = (*TOKEN_ERRORS, "bad_request", "invalid_json", "body_too_large", "unsupported_media_type")
"""What every operation that needs a token and a body may answer."""
_HEADERS_OF = {201: "Location", 401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}


class ErrorDetail(BaseModel):
    """What is wrong with one field."""

    field: str = Field(description="dotted path, such as `filters.weapon.3`")
    message: str


class ErrorBody(StrictCamelCase):
    """The error: `code` is the stable part, `message` is for people."""

    code: str = Field(json_schema_extra={"enum": list(ERRORS)})
    message: str
    details: list[ErrorDetail]
    request_id: str = Field(description=f"equals the header {REQUEST_ID_HEADER}")
    price: float | None = Field(default=None, description="only with `price_changed`: the current price")
    available: int | None = Field(
        default=None, description="only with `not_enough`: how many items can be ordered at the price"
    )


class ErrorResponse(Strict):
    """The one shape of every error."""

    status: Literal["error"]
    error: ErrorBody


def responses(
    model: type[BaseModel] | None, *codes: str, status: int = 200, texts: Mapping[str, str] = MappingProxyType({})
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation: its success and its errors. `api/examples` has examples of JSON, `texts` those
    of other media types.
    """
    success: dict[str, Any] = {"headers": _headers(status)}
    success |= {"description": "OK"} if model is None else {"model": model}
    if texts:
        success["content"] = {
            media: {"schema": {"type": "string"}, "example": example} for media, example in texts.items()
        }
    return {status: success, **_errors(codes)}


def _errors(codes: tuple[str, ...]) -> dict[int | str, dict[str, Any]]:
    errors: dict[int | str, dict[str, Any]] = {}
    for code in (*sorted(codes, key=list(ERRORS).index), "uri_too_long", "internal", "overloaded"):
        number, text = ERRORS[code]
        content: dict[str, Any] = {"application/json": {"examples": {}}}
        response = {"model": ErrorResponse, "description": "", "headers": _headers(number), "content": content}
        entry = errors.setdefault(number, response)
        examples = entry["content"]["application/json"]["examples"]
        examples[code] = {"summary": text, "value": error_example(code)}
        entry["description"] = ", ".join(f"`{each}`" for each in examples)
    return errors


def error_example(code: str) -> dict[str, Any]:
    error: dict[str, Any] = {
        "code": code,
        "message": ERRORS[code][1],
        "details": [],
        "requestId": EXAMPLE_REQUEST_ID,
    }
    if code == "validation_failed":
        message = "Input should be less than or equal to 100"
        error |= {"message": f"limit: {message}", "details": [{"field": "limit", "message": message}]}
    if code == "price_changed":
        error["price"] = 21.4
    if code == "not_enough":
        error["available"] = 1
    return {"status": "error", "error": error}


def _headers(status: int) -> dict[str, Any]:
    names = [REQUEST_ID_HEADER, *([_HEADERS_OF[status]] if status in _HEADERS_OF else [])]
    return {name: {"schema": {"type": "string"}} for name in names}


def operation_id(route: APIRoute) -> str:
    """The name of a route's function, as clients call the operation: `orderItem`."""
    return to_camel(route.name)


def install(app: FastAPI) -> None:
    """Adds the schemas of request bodies to the description, and the examples."""
    describe_routes = app.openapi

    def describe() -> dict[str, Any]:
        described = app.openapi_schema
        schema = describe_routes()  # made anew only where routes are new
        if schema is not described:
            _, definitions = models_json_schema(
                [(body, "validation") for body in BODIES], ref_template="#/components/schemas/{model}"
            )
            schema["components"]["schemas"] |= definitions.get("$defs", {})
            _add_examples(schema)
        return schema

    app.openapi = describe  # type: ignore[method-assign]  # the documented way to extend the description


def read_examples() -> dict[str, dict[str, Any]]:
    """The examples of JSON bodies and responses, by the id of their operation; a file has those of one tag."""
    examples: dict[str, dict[str, Any]] = {}
    for file in (files("api") / "examples").iterdir():
        examples |= orjson.loads(file.read_bytes())
    return examples


def _add_examples(schema: dict[str, Any]) -> None:
    """Puts them into the operations. A route cannot have them: the framework drops its nulls."""
    operations = {each["operationId"]: each for methods in schema["paths"].values() for each in methods.values()}
    for operation_id, examples in read_examples().items():
        operation = operations[operation_id]
        success = next(response for status, response in operation["responses"].items() if status.startswith("2"))
        content = success["content"]["application/json"]
        if "response" in examples:
            content["example"] = examples["response"]
        else:
            content["examples"] = examples["responses"]
        if "bodies" in examples:
            content = operation["requestBody"]["content"]["application/json"]
            content["examples"] = {name: {"value": body} for name, body in examples["bodies"].items()}
