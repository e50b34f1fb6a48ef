"""CORS: web pages of a token's origins read its answers, those of others are refused, and nothing else changes."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from structlog.testing import capture_logs

from api.search.service import SearchServices
from api.telemetry.logs import add_request
from api.token_cache import TokenCache
from store.auth import tokens
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp, new_token

SHOP, STAGING, OTHER_SITE = "https://shop.example", "http://localhost:3000", "https://evil.example"
PREFLIGHT = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


@pytest.fixture(scope="module")
async def token(app: RunningApp) -> str:
    """A token for two origins."""
    return await new_token(app.settings.database_url, "search", origins=[SHOP, STAGING])


async def search(app: RunningApp, token: str, origin: str | None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} | ({} if origin is None else {"Origin": origin})
    return await app.client.post("/v1/gear/search", json={}, headers=headers)


@pytest.mark.parametrize("origin", [SHOP, STAGING])
async def test_a_page_of_the_tokens_origin_may_read_the_answer_and_its_headers(
    app: RunningApp, token: str, origin: str
) -> None:
    response = await search(app, token, origin)
    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == origin
    assert "Origin" in response.headers["Vary"]
    exposed = set(response.headers["Access-Control-Expose-Headers"].split(", "))
    assert {"RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "X-Request-Id", "ETag"} <= exposed
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("origin", [OTHER_SITE, "null", "https://shop.example:8443", "http://shop.example", SHOP + "."])
async def test_another_page_is_refused_and_reads_nothing(app: RunningApp, token: str, origin: str) -> None:
    response = await search(app, token, origin)
    error = error_of(response, "forbidden")
    assert error["message"] == f"the token does not have the origin {origin!r}"
    assert "Access-Control-Allow-Origin" not in response.headers
    assert "Origin" in response.headers["Vary"]


async def test_what_is_no_page_needs_no_origin(app: RunningApp, token: str) -> None:
    response = await search(app, token, None)
    assert response.status_code == 200
    assert "Access-Control-Allow-Origin" not in response.headers
    assert "Origin" in response.headers["Vary"], "the answer to a page has another header"


async def test_a_token_without_origins_is_as_before(app: RunningApp) -> None:
    response = await search(app, app.token, OTHER_SITE)
    assert response.status_code == 200, "pages of the service's own origin send it, such as /docs"
    assert "Access-Control-Allow-Origin" not in response.headers


async def test_a_page_reads_its_errors_too(app: RunningApp, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Origin": SHOP}
    for response, code in (
        (await app.client.post("/v1/gear/search", content=b"{", headers=headers), "unsupported_media_type"),
        (await app.client.get("/v1/gear/404404", headers=headers), "item_not_found"),
        (await app.client.get("/v1/orders", headers=headers), "forbidden"),
    ):
        error_of(response, code)
        assert response.headers["Access-Control-Allow-Origin"] == SHOP


async def test_a_page_reads_an_unexpected_error_too(
    app: RunningApp, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(app.app.state.services, SearchServices, None)
    with capture_logs(processors=[add_request]) as lines:
        response = await search(app, token, SHOP)
    error = error_of(response, "internal")
    assert response.headers["Access-Control-Allow-Origin"] == SHOP
    assert "Origin" in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    request, fault = lines
    assert (request["event"], request["status"], request["requestId"]) == ("request", 500, error["requestId"])
    assert fault["exc_info"], "the server gets the exception, which it logs"


async def test_a_page_reads_when_to_come_again(app: RunningApp) -> None:
    limited = await new_token(app.settings.database_url, "search", origins=[SHOP], rate_limit=1)
    responses = [await search(app, limited, SHOP) for _ in range(5)]
    refused = next(response for response in responses if response.status_code == 429)
    assert refused.headers["Access-Control-Allow-Origin"] == SHOP
    assert int(refused.headers["Retry-After"]) >= 1


async def test_a_page_reads_that_its_token_has_expired(app: RunningApp) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.5)
    expired = await new_token(app.settings.database_url, "search", origins=[SHOP], expires_at=soon)

    async def is_expired() -> bool:
        return (await search(app, expired, SHOP)).status_code == 401

    await until(is_expired)
    response = await search(app, expired, SHOP)
    error_of(response, "unauthorized")
    assert response.headers["Access-Control-Allow-Origin"] == SHOP
    unknown = await search(app, "gear_nobody", SHOP)
    error_of(unknown, "unauthorized")
    assert "Access-Control-Allow-Origin" not in unknown.headers


@pytest.mark.parametrize("path", ["/v1/gear/search", "/v1/gear", "/v1/platforms", "/v1/orders/ord_1/transitions"])
async def test_a_preflight_needs_no_token(app: RunningApp, path: str) -> None:
    response = await app.client.options(path, headers={**PREFLIGHT, "Origin": SHOP, "Authorization": ""})
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in response.headers["Access-Control-Allow-Methods"]
    assert response.headers["Access-Control-Allow-Headers"] == "authorization,content-type"
    assert response.headers["Access-Control-Max-Age"] == "7200"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert "X-Request-Id" in response.headers


async def test_what_is_no_preflight_of_the_api_is_a_405_as_before(app: RunningApp) -> None:
    error_of(await app.client.options("/v1/gear/search"), "method_not_allowed")
    error_of(await app.client.options("/v1/gear/search", headers={"Origin": SHOP}), "method_not_allowed")
    error_of(await app.client.options("/docs", headers={**PREFLIGHT, "Origin": SHOP}), "method_not_allowed")


async def test_another_page_costs_the_tokens_own_pages_nothing(app: RunningApp) -> None:
    created = await new_token(app.settings.database_url, "search", origins=[SHOP], rate_limit=3)
    for _ in range(5):
        error_of(await search(app, created, OTHER_SITE), "forbidden")
    response = await search(app, created, SHOP)
    assert response.headers["RateLimit-Remaining"] == "2"


async def test_origins_outlive_the_cache_of_tokens(app: RunningApp, token: str) -> None:
    """They are part of the token, also as it is known while the store is away."""
    await search(app, token, SHOP)
    cache = app.app.state.services[TokenCache]
    cached = await cache.find(token, allow_stale=True)
    assert isinstance(cached, tokens.Token)
    assert cached.origins == (SHOP, STAGING)
