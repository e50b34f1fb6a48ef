"""JSON bodies: a request in, a checked body model out, or the 4xx that says what is wrong.

Numbers with a fraction or an exponent stay decimals, so that prices compare exactly; what JSON leaves open is
refused: NaN, Infinity, lone surrogates, and the same key twice in one object.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from api.errors import ApiError, from_validation

MOST_BODY_BYTES = 65_536
BODY_SECONDS = 20.0
# no integer field takes more than 64 bits (19 digits); longer ones stay decimals, which integer fields refuse
_LONGEST_INTEGER = 40

Body = TypeVar("Body", bound=BaseModel)


def _constant(name: str) -> Any:
    raise ApiError("invalid_json", f"{name} is not JSON")


def _whole(digits: str) -> int | Decimal:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else Decimal(digits)


def _decimal(digits: str) -> Decimal:
    try:
        return Decimal(digits)
    except InvalidOperation:  # an exponent of twenty digits, beyond every limit: the field's own rule refuses it
        return Decimal("Infinity")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ApiError("invalid_json", "an object has the same key twice")
    return found


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
            parse_int=_whole,
            parse_constant=_constant,
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
    content = await _content(request)
    _refuse_other_types(request, content)
    return content


async def _content(request: Request) -> bytes:
    # Not the framework's own limit: it answers in plain text, and in the place of a 401 too.
    declared = request.headers.get("content-length", "")
    too_large = ApiError("body_too_large", headers={"Connection": "close"})
    if declared.isdigit() and (len(declared) > 9 or int(declared) > MOST_BODY_BYTES):
        raise too_large
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                content += chunk
                if len(content) > MOST_BODY_BYTES:
                    raise too_large
    except ClientDisconnect as error:
        raise ApiError("bad_request", "the client went away within the body") from error
    except TimeoutError as error:
        message = f"the body did not come within {BODY_SECONDS:.0f} seconds"
        raise ApiError("bad_request", message, headers={"Connection": "close"}) from error
    return bytes(content)


def _refuse_other_types(request: Request, body: bytes) -> None:
    declared = request.headers.get("content-type")
    if declared is None and not body:
        return
    kind = (declared or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError("unsupported_media_type", f"send application/json, not {kind[:100] or 'an undeclared type'!r}")


def body_of(model: type[Body]) -> Callable[[Request], Awaitable[Body]]:
    """A dependency that reads and checks the body; declare it after the token's, which comes first.

    What was sent stays in `request.state.json`, where what was not sent can be told from a default.
    """

    async def read(request: Request) -> Body:
        value = parse(await content_of(request))
        body = checked(model, value)
        request.state.json = value
        return body

    return read


def checked(model: type[Body], value: Any) -> Body:
    """The body that a JSON value is; raises ApiError `validation_failed`."""
    if not isinstance(value, dict):
        raise ApiError("validation_failed", "the body must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise from_validation(error.errors(include_url=False, include_input=False)) from error


def request_body(model: type[BaseModel], examples: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI description of a body that `body_of` reads."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    named = {name: {"value": value} for name, value in examples.items()}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema, "examples": named}}}}
