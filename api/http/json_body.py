"""Reads, validates and compares JSON bodies, and writes those of responses.

Numbers with a fraction or an exponent become decimals, so that prices compare exactly. NaN, Infinity, lone surrogates
and duplicate keys are refused. (`jiter` refuses them too, but also integers of more than 4,300 digits, exponents beyond
decimals and more than 200 levels, which are valid JSON and 422 here: docs/decisions/0004.)
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, TypeVar

import orjson
from fastapi import Request, Response
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from api.errors import ApiError, from_validation

MAX_BODY_BYTES = 65_536
BODY_SECONDS = 20.0
# integer fields take 64 bits (19 digits); longer integers become decimals, which these fields refuse
_MAX_DIGITS = 40

BODIES: Final[list[type[BaseModel]]] = []
"""Those that `request_body` has described."""

Body = TypeVar("Body", bound=BaseModel)


def _refuse_constant(name: str) -> Any:
    raise ApiError("invalid_json", f"{name} is not JSON")


def _integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _MAX_DIGITS else Decimal(digits)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of twenty digits: the field's own limit refuses it
        return Decimal("Infinity")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ApiError("invalid_json", "an object has the same key twice")
    return value


def _refuse_surrogates(text: str, value: Any) -> None:
    if "\\u" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        raise ApiError("invalid_json", "a string has a lone surrogate") from error


def parse(body: bytes) -> Any:
    """The value of a JSON text; raises ApiError `invalid_json`."""
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object,
        )
        _refuse_surrogates(text, value)
    except UnicodeDecodeError as error:
        raise ApiError("invalid_json", "the body is not UTF-8") from error
    except json.JSONDecodeError as error:
        message = f"{error.msg} at line {error.lineno} column {error.colno}" if text.strip() else "the body is empty"
        raise ApiError("invalid_json", message) from error
    except RecursionError as error:
        raise ApiError("invalid_json", "the body is nested too deeply") from error
    return value


async def content_of(request: Request) -> bytes:
    """A dependency: the bytes of a JSON body; raises ApiError `body_too_large`, `unsupported_media_type`."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise ApiError(
            "unsupported_media_type", f"send the body as it is, not with Content-Encoding {encoding[:100]!r}"
        )
    content = await read_body(request, MAX_BODY_BYTES)
    media_type = media_type_of(request)
    if media_type != "application/json" and (content or "content-type" in request.headers):
        message = f"send application/json, not {media_type[:100] or 'an undeclared type'!r}"
        raise ApiError("unsupported_media_type", message)
    return content


def media_type_of(request: Request) -> str:
    """The declared type of a body, without its parameters; empty where there is none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


async def read_body(request: Request, max_bytes: int, message: str = "") -> bytes:
    """The bytes of a body; raises ApiError `body_too_large` with the message, `bad_request`."""
    # The framework's own limit answers in plain text, and before the 401.
    declared = request.headers.get("content-length", "")
    too_large = ApiError("body_too_large", message, headers={"Connection": "close"})
    if declared.isdigit() and (len(declared) > 9 or int(declared) > max_bytes):
        raise too_large
    content = bytearray()
    seconds: float = request.app.state.body_seconds
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                content += chunk
                if len(content) > max_bytes:
                    raise too_large
    except ClientDisconnect as error:
        raise ApiError("bad_request", "the client disconnected within the body") from error
    except TimeoutError as error:
        message = f"the body did not arrive within {seconds:.0f} seconds"
        raise ApiError("bad_request", message, headers={"Connection": "close"}) from error
    return bytes(content)


def body_of(model: type[Body]) -> Callable[[Request], Awaitable[Body]]:
    """A dependency that reads and validates the body; declare it after the token's, so that a 401 comes first.

    `request.state.json` has the parsed JSON, which tells absent fields from defaults.
    """

    async def read(request: Request) -> Body:
        value = parse(await content_of(request))
        body = checked(model, value)
        request.state.json = value
        return body

    return read


def checked(model: type[Body], value: Any) -> Body:
    """Validates a JSON value; raises ApiError `validation_failed`."""
    if not isinstance(value, dict):
        raise ApiError("validation_failed", "the body must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise from_validation(error.errors(include_url=False, include_input=False)) from error


def request_body(model: type[BaseModel]) -> dict[str, Any]:
    """The OpenAPI description of a body that `body_of` reads; its examples are in `api/examples`."""
    BODIES.append(model)
    content = {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def json_response(content: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """The success of an operation, with its content."""
    return Response(encode({"status": "success", **content}), status, headers, "application/json")


def encode(value: Any) -> bytes:
    """A value as JSON; every number that `parse` has read is as it was."""
    return orjson.dumps(value, default=_as_read)


def _as_read(value: Any) -> orjson.Fragment:
    if not isinstance(value, Decimal):
        raise TypeError(type(value))
    return orjson.Fragment(str(value))


def body_digest(value: Any) -> str:
    """SHA-256 of a JSON value, equal for equal values: the order of keys, nulls in objects and how a number is
    written do not count, because null for a field means absent and 21.40 is 21.4.
    """
    canonical = json.dumps(_canonical(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return {"": _number(Decimal(value))}  # no object of a body has an empty key
    return value


def _number(value: Decimal) -> str:
    """The number's one spelling, exact at any length."""
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return str(value)  # infinity, which every field refuses
    significant = "".join(map(str, digits)).lstrip("0")
    short = significant.rstrip("0")
    return f"{'-' * sign}{short}e{exponent + len(significant) - len(short)}" if short else "0"
