"""An answer goes in; it is checked to be the one error envelope with its headers, and its error comes out."""

from typing import Any

import httpx

from api.errors import ERRORS


def error_of(answer: httpx.Response, code: str) -> dict[str, Any]:
    """The error of an answer that must have this code, its status and the headers that belong to it."""
    assert answer.headers["Content-Type"] == "application/json"
    body: dict[str, Any] = answer.json()
    assert set(body) == {"status", "error"}
    assert body["status"] == "error"
    error: dict[str, Any] = body["error"]
    assert (error["code"], answer.status_code) == (code, ERRORS[code][0]), answer.text
    assert set(error) - {"price"} == {"code", "message", "details", "requestId"}
    assert error["message"]
    assert error["requestId"] == answer.headers["X-Request-Id"]
    for detail in error["details"]:
        assert set(detail) == {"field", "message"}
        assert detail["message"]
    if answer.status_code == 401:
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    if answer.status_code == 405:
        assert answer.headers["Allow"]
    assert ("Retry-After" in answer.headers) == (answer.status_code in (429, 503))
    if "Retry-After" in answer.headers:
        assert int(answer.headers["Retry-After"]) >= 1
    return error


def fields_of(answer: httpx.Response, code: str) -> list[str]:
    """The fields that an error of this code names."""
    return [detail["field"] for detail in error_of(answer, code)["details"]]
