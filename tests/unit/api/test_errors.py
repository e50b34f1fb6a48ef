"""Every code of the error table becomes the one envelope, with the headers that its status needs."""

import json
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Query, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from structlog.testing import capture_logs

from api.errors import ERRORS, MAX_DETAILS, ApiError, Detail, from_validation, invalid
from api.http.dependencies import only_query
from api.http.error_handlers import install, response_of
from api.http.json_body import checked
from api.http.request_id import RequestIdMiddleware
from api.orders.schemas import TransitionBody
from api.search.schemas.search import SearchBody
from api.telemetry.logs import add_request
from api.vocabulary.schemas import VocabularyBody
from store.connection.errors import StoreUnavailable

# as the contract names them, and `bad_request` (docs/decisions/0013-error-envelope-for-malformed-http.md)
CONTRACT = {
    400: {"bad_request", "invalid_json"},
    401: {"unauthorized"},
    403: {"forbidden"},
    404: {"not_found", "item_not_found", "order_not_found", "delivery_not_found", "search_not_found"},
    405: {"method_not_allowed"},
    409: {"item_unavailable", "price_changed", "not_enough", "invalid_transition", "too_many_searches"},
    410: {"cursor_expired", "bookmark_expired", "personal_data_erased"},
    413: {"body_too_large"},
    414: {"uri_too_long"},
    415: {"unsupported_media_type"},
    422: {"validation_failed", "unknown_platform", "page_window_exceeded", "idempotency_key_reused"},
    429: {"rate_limited", "too_many_orders"},
    500: {"internal"},
    503: {"overloaded", "search_unavailable", "store_unavailable"},
}


@pytest.mark.parametrize("code", ERRORS)
def test_every_code_has_the_status_of_the_contract_and_the_one_envelope(code: str) -> None:
    status, message = ERRORS[code]
    assert code in CONTRACT[status]
    response = response_of(ApiError(code), "an-id")
    assert response.status_code == status
    assert response.media_type == "application/json"
    assert response.headers["X-Request-Id"] == "an-id"
    assert json.loads(bytes(response.body)) == {
        "status": "error",
        "error": {"code": code, "message": message, "details": [], "requestId": "an-id"},
    }
    assert ("Retry-After" in response.headers) == (status in (429, 503))
    assert ("WWW-Authenticate" in response.headers) == (status == 401)


def test_an_error_says_what_it_is_about() -> None:
    error = invalid("filters.weapon.3", "too long")
    body = json.loads(bytes(response_of(error, "x").body))["error"]
    assert body["message"] == "filters.weapon.3: too long"
    assert body["details"] == [{"field": "filters.weapon.3", "message": "too long"}]
    assert str(error) == "validation_failed: filters.weapon.3: too long"
    assert str(ApiError("internal")) == f"internal: {ERRORS['internal'][1]}"


def test_an_error_keeps_its_own_headers_and_additions() -> None:
    response = response_of(ApiError("price_changed", extra={"price": 5.01}), "x")
    assert json.loads(bytes(response.body))["error"]["price"] == 5.01
    assert response_of(ApiError("rate_limited", headers={"Retry-After": "7"}), "x").headers["Retry-After"] == "7"


@pytest.mark.parametrize(
    ("place", "path"),
    [
        (("query",), "query"),
        (("body",), "body"),
        (("path", "query"), "path.query"),
        (("filters", "weapon", 3), "filters.weapon.3"),
        ((), ""),
    ],
)
def test_a_field_is_named_by_its_whole_path(place: tuple[str | int, ...], path: str) -> None:
    error = from_validation([{"loc": place, "msg": "Value error, is wrong"}])
    assert list(error.details) == [Detail(path, "is wrong")]
    assert error.message == f"{path or 'body'}: is wrong"


@pytest.mark.parametrize(
    ("model", "body", "message"),
    [
        (SearchBody, {"filters": {"price": {"max": 10**13}}}, "less than or equal to 1000000000000"),
        (SearchBody, {"filters": {"float": {"min": 2}}}, "less than or equal to 1"),
        (SearchBody, {"filters": {"price": 5}}, "an object"),
        (SearchBody, {"facets": ["price"] * 12}, "at most 11 items, not 12"),
        (TransitionBody, {"to": "failed", "reason": "\0"}, "must not have a NUL character"),
        (VocabularyBody, {"hide": {"names": ["a"], "texts": ["x" * 61]}}, "String should have at most 60 characters"),
        (VocabularyBody, {"hide": {"names": ["a"], "texts": ["!"]}}, "the text '!' has no letter and no digit"),
    ],
)
def test_a_reason_names_nothing_of_our_code(model: type[BaseModel], body: dict[str, Any], message: str) -> None:
    with pytest.raises(ApiError) as caught:
        checked(model, body)
    (detail,) = caught.value.details
    assert detail.message.removeprefix("Input should be ").removeprefix("List should have ") == message


def test_several_wrong_fields_are_all_named() -> None:
    error = from_validation([{"loc": ("a",), "msg": "x"}, {"loc": ("b",), "msg": "y"}, {"loc": ("c",), "msg": "z"}])
    assert error.message == "a: x (and 2 more)"
    assert [detail.field for detail in error.details] == ["a", "b", "c"]


def test_of_very_many_wrong_fields_the_first_are_named() -> None:
    error = from_validation([{"loc": (f"k{number}",), "msg": "unknown"} for number in range(7_500)])
    assert len(error.details) == MAX_DETAILS == 20
    assert error.message == "k0: unknown (and 7,499 more)"


async def test_of_very_many_unknown_parameters_the_first_are_named() -> None:
    query = b"&".join(b"p%d" % number for number in range(30_000))
    with pytest.raises(ApiError) as caught:
        await only_query("limit")(Request({"type": "http", "query_string": query + b"&limit=1&limit=2"}))
    assert len(caught.value.details) == MAX_DETAILS
    assert caught.value.message.endswith("(and 30,000 more)")


def failing_app() -> FastAPI:
    app = FastAPI()
    app.add_middleware(RequestIdMiddleware, on_response=lambda *_: None)
    install(app)

    @app.get("/raise/{what}")
    def fail(what: str, request: Request, limit: int = Query(default=1)) -> None:
        raise {
            "bug": RuntimeError("a secret"),
            "store": StoreUnavailable("a secret of the disk"),
            "engine": ApiError("search_unavailable", "a secret of the engine"),
            "teapot": HTTPException(418),
            "gone": HTTPException(404, headers={"X-More": "kept"}),
            "own": ApiError("forbidden"),
        }[what]

    return app


@pytest.mark.parametrize(
    ("path", "code", "field"),
    [
        ("/raise/bug", "internal", None),
        ("/raise/store", "store_unavailable", None),
        ("/raise/engine", "search_unavailable", None),
        ("/raise/teapot", "internal", None),
        ("/raise/gone", "not_found", None),
        ("/raise/own", "forbidden", None),
        ("/raise/own?limit=x", "validation_failed", "limit"),
        ("/nowhere", "not_found", None),
    ],
)
async def test_whatever_is_raised_is_answered_with_an_envelope(path: str, code: str, field: str | None) -> None:
    transport = httpx.ASGITransport(failing_app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://gear.test") as client:
        response = await client.get(path, headers={"X-Request-Id": "mine-1"})
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"]) == (ERRORS[code][0], code)
    assert error["requestId"] == response.headers["X-Request-Id"] == "mine-1"
    assert [detail["field"] for detail in error["details"]] == ([field] if field else [])
    assert "secret" not in response.text


@pytest.mark.parametrize("path", ["/raise/store", "/raise/engine"])
async def test_the_cause_of_a_503_is_logged(path: str) -> None:
    transport = httpx.ASGITransport(failing_app())
    with capture_logs(processors=[add_request]) as lines:
        async with httpx.AsyncClient(transport=transport, base_url="http://gear.test") as client:
            response = await client.get(path)
    (line,) = [line for line in lines if line["log_level"] == "warning"]
    assert "secret" in line["cause"]
    assert line["requestId"] == response.headers["X-Request-Id"]
