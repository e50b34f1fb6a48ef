"""Checks of what holds for every route: health, request ids, errors, authentication."""

import secrets
from typing import Final

from api.conform.checks import check
from api.conform.deployment import Deployment, require

SEARCH: Final = "/v1/gear/search"
GIVEN: Final = {SEARCH, "/v1/gear"}


@check("http", "GET /health/live is open and succeeds.")
def live(deployment: Deployment) -> None:
    deployment.send("GET", "/health/live", token=None).keys("status")


@check("http", "GET /health/ready tells each capability: {status, search, orders}.")
def ready(deployment: Deployment) -> None:
    body = deployment.send("GET", "/health/ready", token=None).keys("status", "search", "orders")
    require(body["search"] is True and body["orders"] is True, f"not all works: {body}")


@check("http", "GET /openapi.json describes the given operations.")
def openapi(deployment: Deployment) -> None:
    paths = deployment.send("GET", "/openapi.json", token=None).expect(200).json["paths"]
    require(set(paths) >= GIVEN, f"{sorted(GIVEN - set(paths))} are not described")


@check("http", "Every response carries X-Request-Id.")
def request_id(deployment: Deployment) -> None:
    identity = f"conform-{secrets.token_hex(8)}"
    for path in ("/health/live", "/nowhere"):
        response = deployment.send("GET", path, headers={"X-Request-Id": identity})
        require(
            response.headers.get("x-request-id") == identity, f"{response.request}: X-Request-Id is not the client's"
        )


@check("http", "An unknown path is a 404 not_found, in the envelope.")
def not_found(deployment: Deployment) -> None:
    deployment.send("GET", "/v1/nowhere").error(404, "not_found")


@check("http", "A method that a path does not take is a 405 method_not_allowed with Allow.")
def method_not_allowed(deployment: Deployment) -> None:
    response = deployment.send("DELETE", SEARCH)
    response.error(405, "method_not_allowed")
    require("POST" in response.headers.get("allow", ""), f"Allow is {response.headers.get('allow')!r}")


@check("http", "Missing or bad: 401 with WWW-Authenticate.")
def unauthorized(deployment: Deployment) -> None:
    for token in (None, "gear_unknown"):
        response = deployment.send("POST", SEARCH, {}, token=token)
        response.error(401, "unauthorized")
        require(response.headers.get("www-authenticate", "").startswith("Bearer"), "WWW-Authenticate is missing")


@check("http", "The token is checked before the body is read as JSON.")
def token_before_body(deployment: Deployment) -> None:
    deployment.send("POST", SEARCH, content=b"{", token=None).error(401, "unauthorized")


@check("http", "400 invalid_json: also an empty body, NaN, Infinity.")
def invalid_json(deployment: Deployment) -> None:
    for content in (b"{", b"", b'{"limit": NaN}', b'{"limit": Infinity}'):
        deployment.send("POST", SEARCH, content=content).error(400, "invalid_json")


@check("http", "413 body_too_large over 64 KiB.")
def body_too_large(deployment: Deployment) -> None:
    content = b'{"query": "' + b"x" * 65_536 + b'"}'
    deployment.send("POST", SEARCH, content=content).error(413, "body_too_large")


@check("http", "415 unsupported_media_type.")
def unsupported_media_type(deployment: Deployment) -> None:
    headers = {"Content-Type": "text/plain"}
    deployment.send("POST", SEARCH, content=b"{}", headers=headers).error(415, "unsupported_media_type")


@check("http", "Unknown fields and query parameters are 422, nothing is clamped or ignored.")
def unknown_fields(deployment: Deployment) -> None:
    deployment.send("POST", SEARCH, {"unknownField": 1}).error(422, "validation_failed", "unknownField")
    deployment.send("POST", SEARCH, {"filters": {"unknownField": 1}}).error(
        422, "validation_failed", "filters.unknownField"
    )
    deployment.send("POST", f"{SEARCH}?unknown=1", {}).error(422, "validation_failed")
