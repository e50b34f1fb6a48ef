"""Every fault on every route is told in the one envelope, and the token comes before all else."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from store.auth import tokens
from store.connection.engine import Store
from tests.support.api.catalogue import PRICED
from tests.support.api.envelope import error_of, fields_of
from tests.support.api.waiting import until
from tests.support.app import ALL_SCOPES, RunningApp, new_token

ROUTES = [
    ("POST", "/v1/gear/search", "search"),
    ("POST", "/v1/gear/changes", "search"),
    ("GET", "/v1/gear/suggest", "search"),
    ("GET", "/v1/gear/prices", "search"),
    ("GET", f"/v1/gear/{PRICED}", "search"),
    ("GET", "/v1/platforms", "search"),
    ("POST", "/v1/gear", "order"),
    ("POST", "/v1/gear/cheapest", "order"),
    ("GET", "/v1/orders/x", "order"),
    ("PUT", "/v1/catalogue/cs2/items", "catalogue"),
    ("DELETE", "/v1/catalogue/cs2/items", "catalogue"),
    ("GET", "/metrics", "metrics"),
    ("GET", "/v1/orders", "order"),
    ("POST", "/v1/orders/x/transitions", "fulfil"),
    ("GET", "/v1/orders/x/fulfilment", "fulfil"),
    ("GET", "/v1/orders/x/deliveries", "order"),
    ("POST", "/v1/orders/x/deliveries/1/replay", "order"),
    ("GET", "/v1/vocabulary", "catalogue"),
    ("POST", "/v1/vocabulary", "catalogue"),
    ("POST", "/v1/vocabulary/test", "catalogue"),
    ("DELETE", "/v1/vocabulary/x", "catalogue"),
    ("GET", "/v1/searches/unanswered", "catalogue"),
    ("POST", "/v1/searches", "search"),
    ("GET", "/v1/searches", "search"),
    ("GET", "/v1/searches/x", "search"),
    ("DELETE", "/v1/searches/x", "search"),
    ("GET", "/v1/operations", "operate"),
]
BODIES = [(method, path) for method, path, _ in ROUTES if method == "POST" and not path.endswith("/replay")]
OPEN = ["/health/live", "/health/ready"]
every_route = pytest.mark.parametrize(("method", "path", "scope"), ROUTES)
every_body = pytest.mark.parametrize(("method", "path"), BODIES)


def test_every_route_of_the_app_is_tested_here(app: RunningApp) -> None:
    described = {
        (
            method.upper(),
            path.replace("{id}", str(PRICED) if "gear" in path else "x")
            .replace("{n}", "1")
            .replace("{platform}", "cs2"),
        )
        for path, operations in app.app.openapi()["paths"].items()
        for method in operations
    }
    assert described - {("GET", path) for path in OPEN} == {(method, path) for method, path, _ in ROUTES}


@every_route
async def test_without_a_token_nothing_else_is_looked_at(app: RunningApp, method: str, path: str, scope: str) -> None:
    headers = {"Content-Type": "text/plain", "Authorization": ""}
    response = await app.client.request(method, f"{path}?unknown=1", headers=headers, content=b"{")
    error_of(response, "unauthorized")


@every_route
@pytest.mark.parametrize(
    "credentials",
    [
        "Bearer",
        "Bearer ",
        "Bearer gear_unknown",
        "Bearer \xe4\xff",
        "Bearer a b",
        "Basic dTpw",
        "gear_unknown",
        "Bearer " + "x" * 5000,
    ],
)
async def test_a_bad_token_is_a_401(app: RunningApp, method: str, path: str, scope: str, credentials: str) -> None:
    response = await app.client.request(method, path, headers=[(b"Authorization", credentials.encode("latin-1"))])
    error_of(response, "unauthorized")
    assert "gear_unknown" not in response.text


@every_route
async def test_another_scope_is_a_403_before_the_body_is_read(
    app: RunningApp, method: str, path: str, scope: str
) -> None:
    token = await new_token(app.settings.database_url, "search" if scope == "metrics" else "metrics")
    headers = {"Authorization": f"Bearer {token}"}
    error = error_of(await app.client.request(method, path, headers=headers, content=b"{"), "forbidden")
    assert repr(scope) in error["message"]


async def test_an_expired_token_is_a_401_on_every_route(app: RunningApp) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1)
    token = await new_token(app.settings.database_url, *ALL_SCOPES, expires_at=soon)
    headers = {"Authorization": f"Bearer {token}"}

    async def refused() -> bool:
        return (await app.client.get("/v1/platforms", headers=headers)).status_code == 401

    await until(refused)
    assert datetime.now(UTC) >= soon
    for method, path, _ in ROUTES:
        error_of(await app.client.request(method, path, headers=headers), "unauthorized")


async def test_a_revoked_token_stops_working_within_5_seconds(app: RunningApp) -> None:
    token = await new_token(app.settings.database_url, "search")
    headers = {"Authorization": f"Bearer {token}"}

    async def refused() -> bool:
        return (await app.client.get("/v1/platforms", headers=headers)).status_code == 401

    assert not await refused()
    store = Store(app.settings.database_url)
    try:
        async with store.transaction() as connection:
            stored = await tokens.find(connection, token)
            assert stored is not None
            assert await tokens.revoke(connection, stored.id, datetime.now(UTC))
    finally:
        await store.close()
    await until(refused, seconds=5)


@pytest.mark.parametrize("word", ["bearer", "BEARER", "Bearer"])
async def test_the_word_bearer_may_be_written_in_any_case(app: RunningApp, word: str) -> None:
    response = await app.client.get("/v1/platforms", headers={"Authorization": f"{word} {app.token}"})
    assert response.status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/v1", "/v2/gear/search", "/v1/gear/search/", "/v1/platforms/", "/v1/gear/", "/v1/gear/1/", "/v1/gear/1/2",
     "/v1//platforms", "/health", "/health/live/", "/%ff", "/v1/platforms%00", "/redoc", "/v1/Platforms"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_unknown_path_is_a_404(app: RunningApp, method: str, path: str) -> None:
    error_of(await app.client.request(method, path), "not_found")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/gear/search"),
        ("PUT", "/v1/gear/search"),
        ("DELETE", "/v1/gear/search"),
        ("PATCH", "/v1/gear/search"),
        ("GET", "/v1/gear"),
        ("POST", "/v1/gear/1"),
        ("POST", "/v1/platforms"),
        ("HEAD", "/v1/gear"),
        ("OPTIONS", "/v1/platforms"),
        ("OPTIONS", "/v1/gear/search"),
        ("TRACE", "/v1/platforms"),
        ("POST", "/health/live"),
        ("HEAD", "/v1/gear/search"),
        ("FOO", "/v1/platforms"),
    ],
)
async def test_another_method_is_a_405_that_says_which_are_allowed(app: RunningApp, method: str, path: str) -> None:
    response = await app.client.request(method, path)
    if method == "HEAD":  # has no body
        assert (response.status_code, response.content) == (405, b"")
    else:
        error_of(response, "method_not_allowed")
    assert method not in response.headers["Allow"].split(", ")


async def test_all_methods_of_a_path_are_allowed(app: RunningApp) -> None:
    expected = {
        "/v1/gear/1": "GET, HEAD",
        "/v1/gear/search": "POST",
        "/v1/searches": "GET, HEAD, POST",
        "/health/live": "GET, HEAD",
        "/docs": "GET, HEAD",
    }
    for path, methods in expected.items():
        assert (await app.client.patch(path)).headers["Allow"] == methods, path


@pytest.mark.parametrize(
    "path", [*(path for method, path, _ in ROUTES if method == "GET"), *OPEN, "/docs", "/orders/x"]
)
async def test_head_is_answered_as_get_without_the_body(app: RunningApp, path: str) -> None:
    get = await app.client.get(path)
    with capture_logs() as lines:
        head = await app.client.head(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    (line,) = [line for line in lines if line["event"] == "request"]
    assert line["method"] == "HEAD"
    assert line["route"] is not None


@every_body
@pytest.mark.parametrize(
    "declared",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx",
     "application/vnd.api+json", "text/json", "application", "/", "*/*", ";", "\xff"],
)  # fmt: skip
async def test_another_content_type_is_a_415(app: RunningApp, method: str, path: str, declared: str) -> None:
    headers = [(b"Content-Type", declared.encode("latin-1"))]
    error_of(await app.client.request(method, path, content=b"{}", headers=headers), "unsupported_media_type")


@every_body
async def test_a_body_of_no_declared_type_is_a_415_and_no_body_a_400(app: RunningApp, method: str, path: str) -> None:
    error_of(await app.client.request(method, path, content=b"{}"), "unsupported_media_type")
    error_of(await app.client.request(method, path), "invalid_json")


@pytest.mark.parametrize("declared", ["application/json", "application/json; charset=utf-8", "Application/JSON ;x=y"])
async def test_json_may_be_declared_with_parameters_and_in_any_case(app: RunningApp, declared: str) -> None:
    response = await app.client.post("/v1/gear/search", content=b"{}", headers={"Content-Type": declared})
    assert response.status_code == 200


@every_body
@pytest.mark.parametrize(
    "body",
    [b"", b" ", b"{", b"nope", b'{"a": NaN}', b'{"a": "\\ud800"}', b"\xff", b'{"a": 1, "a": 1}', b"[" * 60_000],
)
async def test_what_is_no_json_is_a_400(app: RunningApp, method: str, path: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    error_of(await app.client.request(method, path, content=body, headers=headers), "invalid_json")


@every_body
@pytest.mark.parametrize("body", ["[]", "null", '"x"', "5", "true", "[{}]"])
async def test_json_that_is_no_object_is_a_422(app: RunningApp, method: str, path: str, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    error_of(await app.client.request(method, path, content=body, headers=headers), "validation_failed")


@every_body
async def test_an_unknown_field_is_a_422_and_named(app: RunningApp, method: str, path: str) -> None:
    for name in ("colour", "query.x", "body", "ünïcode", "x" * 1000, ""):
        response = await app.client.request(method, path, json={name: 1})
        assert name in fields_of(response, "validation_failed")


@pytest.mark.parametrize(
    ("method", "path"), [*((method, path) for method, path, _ in ROUTES), *(("GET", p) for p in OPEN)]
)
@pytest.mark.parametrize("name", ["unknown", "Platform", "token", "%00", "limit[]", ""])
async def test_an_unknown_query_parameter_is_a_422_and_named(
    app: RunningApp, method: str, path: str, name: str
) -> None:
    response = await app.client.request(method, f"{path}?{name}=1", json={} if method == "POST" else None)
    assert fields_of(response, "validation_failed") == [name.replace("%00", "\0")]


async def test_a_parameter_given_twice_is_a_422(app: RunningApp) -> None:
    response = await app.client.get(f"/v1/gear/{PRICED}?platform=cs2&platform=730")
    assert fields_of(response, "validation_failed") == ["platform"]


@every_body
async def test_a_body_of_64_kib_is_read_and_a_larger_one_refused(app: RunningApp, method: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}

    async def sent(size: int) -> httpx.Response:
        return await app.client.request(method, path, content=b"{}" + b" " * (size - 2), headers=headers)

    assert (await sent(65_536)).status_code in (200, 422)
    error_of(await sent(65_537), "body_too_large")


@every_body
async def test_the_order_of_checks_is_size_then_type_then_json(app: RunningApp, method: str, path: str) -> None:
    plain = {"Content-Type": "text/plain"}
    error_of(await app.client.request(method, path, content=b"{" * 70_000, headers=plain), "body_too_large")
    error_of(await app.client.request(method, path, content=b"{", headers=plain), "unsupported_media_type")


REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/gear/search", {"json": {}}),
    ("POST", "/v1/gear/search", {"json": {"limit": 0}}),
    ("GET", "/v1/gear/suggest?q=ak", {}),
    ("GET", f"/v1/gear/{PRICED}", {}),
    ("GET", "/v1/gear/404", {}),
    ("GET", "/v1/platforms", {}),
    ("GET", "/nowhere", {}),
    ("DELETE", "/v1/platforms", {}),
    ("GET", "/health/live", {}),
    ("GET", "/health/ready", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/docs", {}),
]


@pytest.mark.parametrize(("method", "path", "more"), REQUESTS)
async def test_every_answer_has_a_request_id_and_a_harmless_one_of_the_clients_is_preserved(
    app: RunningApp, method: str, path: str, more: dict[str, Any]
) -> None:
    responses = [await app.client.request(method, path, **more) for _ in range(2)]
    ids = [response.headers["X-Request-Id"] for response in responses]
    assert len(set(ids)) == 2
    echoed = await app.client.request(method, path, headers={"X-Request-Id": "shop-42"}, **more)
    assert echoed.headers.get_list("X-Request-Id") == ["shop-42"]
    bad = await app.client.request(method, path, headers={"X-Request-Id": "<script>"}, **more)
    assert bad.headers["X-Request-Id"] != "<script>"
    if bad.is_error:
        assert bad.json()["error"]["requestId"] == bad.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("path", "more"),
    [("live", {}), *((f"ready{wanted}", {"search": True, "orders": True}) for wanted in ("", "?for=orders"))],
)
async def test_health_is_open_and_well(app: RunningApp, path: str, more: dict[str, bool]) -> None:
    response = await app.client.get(f"/health/{path}", headers={"Authorization": ""})
    assert (response.status_code, response.json()) == (200, {"status": "success", **more})


async def test_readiness_of_what_there_is_not_is_a_422(app: RunningApp) -> None:
    error_of(await app.client.get("/health/ready?for=coffee"), "validation_failed")
