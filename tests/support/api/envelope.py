"""The error envelope: what every refusal looks like."""

from typing import Any

import httpx

from api.errors import ERRORS


def error_of(response: httpx.Response, code: str | None = None) -> dict[str, Any]:
    """The error of an answer that must be the envelope with its status and headers, and have this code."""
    assert response.headers["Content-Type"] == "application/json"
    body: dict[str, Any] = response.json()
    assert set(body) == {"status", "error"}
    assert body["status"] == "error"
    error: dict[str, Any] = body["error"]
    assert code in (None, error["code"]), response.text
    assert response.status_code == ERRORS[error["code"]][0], response.text
    assert set(error) - {"price", "available"} == {"code", "message", "details", "requestId"}
    assert error["message"]
    assert error["requestId"] == response.headers["X-Request-Id"]
    for detail in error["details"]:
        assert set(detail) == {"field", "message"}
        assert detail["message"]
    assert response.headers.get("WWW-Authenticate", "").startswith("Bearer") == (response.status_code == 401)
    if response.status_code == 405:
        assert response.headers["Allow"]
    assert ("Retry-After" in response.headers) == (response.status_code in (429, 503))
    if "Retry-After" in response.headers:
        assert int(response.headers["Retry-After"]) >= 1
    return error


def fields_of(response: httpx.Response, code: str) -> list[str]:
    """The fields that an error of this code names."""
    return [detail["field"] for detail in error_of(response, code)["details"]]
