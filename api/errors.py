"""Errors: the one table of codes, and what raises becomes one envelope: `{"status": "error", "error": {…}}`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.http.request_id import REQUEST_ID_HEADER, request_id
from store.connection.errors import StoreUnavailable

# code: (status, what it tells the client). The order is that of the statuses.
ERRORS: dict[str, tuple[int, str]] = {
    "bad_request": (400, "what came is no request of HTTP, or stopped half-way"),
    "invalid_json": (400, "the body is not valid JSON"),
    "unauthorized": (401, "a valid bearer token is needed"),
    "forbidden": (403, "the token does not have the scope that this operation needs"),
    "not_found": (404, "there is nothing at this address"),
    "item_not_found": (404, "no item has this id"),
    "order_not_found": (404, "no order of yours has this id"),
    "delivery_not_found": (404, "the order has no callback of this number that could be sent"),
    "method_not_allowed": (405, "this address does not take this method"),
    "item_unavailable": (409, "the item cannot be ordered: it is bound by another order or has no price"),
    "price_changed": (409, "the item's price is not the expected one; `error.price` is the present one"),
    "invalid_transition": (409, "the order cannot go from its present state to this one; the message says where it is"),
    "cursor_expired": (410, "the cursor was not used for 5 minutes, or its view of the index is gone; start a new one"),
    "body_too_large": (413, "the body is larger than 65,536 bytes"),
    "unsupported_media_type": (415, "the body must be sent as application/json"),
    "validation_failed": (422, "a field breaks a rule; `error.details` names each"),
    "unknown_platform": (422, "no such platform is known"),
    "page_window_exceeded": (422, "the page lies beyond the first 10,000 hits; a `cursor` reads on"),
    "idempotency_key_reused": (422, "the Idempotency-Key was used for another body before"),
    "rate_limited": (429, "too many requests with this token"),
    "internal": (500, "a fault of ours; the request id helps to find it"),
    "search_unavailable": (503, "the search engine does not answer"),
    "store_unavailable": (503, "the order store does not answer"),
}

RETRY_AFTER_SECONDS = 1
_BY_STATUS = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large", 415: "unsupported_media_type"}


@dataclass(frozen=True)
class Detail:
    """What is wrong with one field, named by its dotted path such as `filters.weapon.3`."""

    field: str
    message: str


@dataclass
class ApiError(Exception):
    """An answer that is an error: a code of the table, a sentence, and the fields that it is about."""

    code: str
    message: str = ""
    details: Sequence[Detail] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}: {self.message or ERRORS[self.code][1]}"


def invalid(path: str, message: str, code: str = "validation_failed") -> ApiError:
    """The 422 for one field."""
    return ApiError(code, f"{path}: {message}", [Detail(path, message)])


def response_of(error: ApiError, identity: str) -> Response:
    """The envelope of an error as a response."""
    status, default = ERRORS[error.code]
    headers = {REQUEST_ID_HEADER: identity, **error.headers}
    if status in (429, 503):
        headers.setdefault("Retry-After", str(RETRY_AFTER_SECONDS))
    if status == 401:
        headers.setdefault("WWW-Authenticate", 'Bearer realm="gear"')
    content = {
        "status": "error",
        "error": {
            "code": error.code,
            "message": error.message or default,
            "details": [{"field": detail.field, "message": detail.message} for detail in error.details],
            "requestId": identity,
            **error.extra,
        },
    }
    return Response(orjson.dumps(content), status, headers, "application/json")


def dotted(location: Sequence[str | int]) -> str:
    """A place in a body as a path: `("filters", "weapon", 3)` is `filters.weapon.3`."""
    return ".".join(str(part) for part in location)


def from_validation(problems: Sequence[Mapping[str, Any]]) -> ApiError:
    """The 422 for everything that pydantic found wrong."""
    details = [Detail(dotted(problem["loc"]), problem["msg"].removeprefix("Value error, ")) for problem in problems]
    first = f"{details[0].field or 'body'}: {details[0].message}"
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return ApiError("validation_failed", first + more, details)


def error_of(fault: Exception) -> ApiError:
    """What a client is told of anything that was raised."""
    if isinstance(fault, ApiError):
        return fault
    if isinstance(fault, RequestValidationError):
        # the framework puts where it looked before the name: ("query", "limit")
        return from_validation([{**problem, "loc": problem["loc"][1:]} for problem in fault.errors()])
    if isinstance(fault, HTTPException):
        return ApiError(_BY_STATUS.get(fault.status_code, "internal"), headers=dict(fault.headers or {}))
    if isinstance(fault, StoreUnavailable):
        return ApiError("store_unavailable", str(fault))
    return ApiError("internal")


async def _answer(request: Request, fault: Exception) -> Response:
    return response_of(error_of(fault), request_id(request.scope))


def install(app: FastAPI) -> None:
    """Makes every fault of the app an envelope; one that is not foreseen here is raised again and logged."""
    for kind in (ApiError, RequestValidationError, HTTPException, StoreUnavailable, Exception):
        app.add_exception_handler(kind, _answer)
