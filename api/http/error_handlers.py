"""Exception handlers: every exception becomes a response with the error envelope."""

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from api.errors import ERRORS, ApiError, from_validation
from api.http.request_id import REQUEST_ID_HEADER, request_id
from api.log import log
from store.connection.errors import StoreUnavailable

RETRY_AFTER_SECONDS = 1
_CODE_BY_STATUS = {404: "not_found", 405: "method_not_allowed", 413: "body_too_large", 415: "unsupported_media_type"}


def response_of(error: ApiError, identity: str) -> Response:
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


def error_of(exception: Exception) -> ApiError:
    """The error that a client sees for an exception."""
    if isinstance(exception, ApiError):
        return exception
    if isinstance(exception, RequestValidationError):
        # FastAPI puts the place of a parameter before its name: ("query", "limit")
        return from_validation([{**problem, "loc": problem["loc"][1:]} for problem in exception.errors()])
    if isinstance(exception, HTTPException):
        return ApiError(_CODE_BY_STATUS.get(exception.status_code, "internal"), headers=dict(exception.headers or {}))
    if isinstance(exception, StoreUnavailable):
        return ApiError("store_unavailable")
    return ApiError("internal")


def _allowed_methods(request: Request) -> str:
    """The methods that the path takes, of all its routes: the framework names those of the first one alone."""
    routes = [route for route in request.app.routes if isinstance(route, APIRoute)]
    path = next(route.path for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    of_path = [route for route in routes if route.path == path]
    documented = [route for route in of_path if route.include_in_schema] or of_path
    methods = {method for route in documented for method in route.methods or ()}
    return ", ".join(sorted(methods | {"HEAD"} if "GET" in methods else methods))


async def _respond(request: Request, exception: Exception) -> Response:
    error = error_of(exception)
    if error.code == "method_not_allowed":
        error.headers = {"Allow": _allowed_methods(request)}
    if isinstance(exception, StoreUnavailable):
        log.warning("the order store does not answer", cause=str(exception))
    elif error.code == "search_unavailable" and error.message and "authorization" not in request.headers:
        # what is wrong with the engine is for those who have a token
        log.warning("the search engine does not answer", cause=error.message)
        error = ApiError(error.code, headers=error.headers)
    return response_of(error, request_id(request.scope))


def install(app: FastAPI) -> None:
    """Registers the handlers; an unexpected exception is also raised again by the framework, and so logged."""
    for kind in (ApiError, RequestValidationError, HTTPException, StoreUnavailable, Exception):
        app.add_exception_handler(kind, _respond)
