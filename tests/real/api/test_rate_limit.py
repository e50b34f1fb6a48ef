"""Rate limits: requests cost by their work, a token that asks too much waits, and others do not notice."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.search import costs
from api.search.service import SearchServices
from store.auth import tokens
from tests.support.api.envelope import error_of
from tests.support.app import RunningApp, new_token, running, settings_for
from tests.support.search.serving import wait_for_revisions

Limited = Callable[..., AbstractAsyncContextManager[RunningApp]]


@pytest.fixture
def limited(app: RunningApp, tmp_path: Path) -> Limited:
    """Runs an app with limits over the same items; a response is cached from its first time on."""

    @asynccontextmanager
    async def started(**settings: Any) -> AsyncIterator[RunningApp]:
        app_settings = app.settings
        async with running(
            settings_for(app_settings.opensearch_url, app_settings.index_prefix, tmp_path, **settings)
        ) as other:
            wait_for_revisions(other)
            yield other

    return started


def remaining(response: httpx.Response) -> int:
    return int(response.headers["RateLimit-Remaining"])


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_more_than_the_limit_is_a_429_for_this_token_only(limited: Limited) -> None:
    async with limited(rate_limit="5 per 2 seconds") as app:

        async def ask(token: str) -> httpx.Response:
            return await app.client.get("/v1/platforms", headers=bearer(token))

        responses = [await ask(app.token) for _ in range(7)]  # 6 may be admitted where a window ends between them
        assert [response.status_code for response in responses[:5]] == [200] * 5
        error = error_of(responses[6], "rate_limited")
        assert "5 per 2 second" in error["message"]
        assert 1 <= int(responses[6].headers["Retry-After"]) <= 2
        other = await new_token(app.settings.database_url, "search")
        assert (await ask(other)).status_code == 200
        await asyncio.sleep(int(responses[6].headers["Retry-After"]))
        assert (await ask(app.token)).status_code == 200


async def test_the_limit_is_over_all_operations_and_before_the_body(limited: Limited) -> None:
    async with limited(rate_limit="5/day") as app:
        for _ in range(5):
            await app.client.get("/v1/gear/1")
        error_of(await app.client.post("/v1/gear/search", content=b"{"), "rate_limited")
        error_of(await app.client.post("/v1/gear", content=b"{"), "rate_limited")
        assert (await app.client.get("/openapi.json")).status_code == 200


async def test_a_response_tells_what_is_left(limited: Limited) -> None:
    async with limited(rate_limit="5/day") as app:
        responses = [await app.client.get("/v1/gear/1") for _ in range(6)]
        assert [remaining(response) for response in responses] == [4, 3, 2, 1, 0, 0]
        for response in responses:
            assert response.headers["RateLimit-Limit"] == "5"
            assert response.headers["RateLimit-Policy"] == "5;w=86400"
            assert 0 <= int(response.headers["RateLimit-Reset"]) <= 86_400
        assert "RateLimit-Limit" not in (await app.client.get("/health/live")).headers


@pytest.mark.parametrize(
    ("body", "extra"),
    [
        ({"limit": 7}, 0),
        ({"limit": 7, "facets": ["weapon"]}, costs.FACETS_COST),
        ({"limit": 7, "groupBy": "name"}, costs.GROUPS_COST),
        ({"limit": 7, "groupBy": "name", "sort": "name_desc"}, costs.SORTED_GROUPS_COST),
        (
            {"limit": 7, "groupBy": "name", "sort": "newest", "facets": ["type"]},
            costs.SORTED_GROUPS_COST + costs.FACETS_COST,
        ),
        ({"limit": 7, "query": "nothing has this"}, 3 * costs.RELAXED_WORD_COST),
    ],
)
async def test_a_search_costs_by_its_work_and_a_cached_response_1(
    limited: Limited, body: dict[str, Any], extra: int
) -> None:
    async with limited(rate_limit="100/day") as app:
        assert remaining(await app.search(body)) == 99 - extra
        assert remaining(await app.search(body)) == 98 - extra


async def test_suggestions_and_pages_of_a_relaxed_text_cost_more(limited: Limited) -> None:
    async with limited(rate_limit="100/day") as app:
        response = await app.client.get("/v1/gear/suggest", params={"q": "red"})
        assert remaining(response) == 99 - costs.SUGGESTIONS_COST
        body = {"query": "redlien", "limit": 1, "cursor": "*"}
        first = await app.search(body)
        assert remaining(first) == 98 - costs.SUGGESTIONS_COST - costs.RELAXED_WORD_COST
        second = await app.search({**body, "cursor": first.json()["nextCursor"]})
        assert remaining(second) == 97 - costs.SUGGESTIONS_COST - 2 * costs.RELAXED_WORD_COST


async def test_a_cost_that_is_not_left_is_a_429_and_one_above_the_limit_takes_all(limited: Limited) -> None:
    grouped = {"groupBy": "name", "sort": "name_desc"}
    async with limited(rate_limit=f"{costs.SORTED_GROUPS_COST + 1}/day") as app:
        assert (await app.search({})).status_code == 200
        error = error_of(await app.search(grouped), "rate_limited")
        assert f"costs {costs.SORTED_GROUPS_COST}" in error["message"]
    for limit in ("1/day", "5/day"):
        async with limited(rate_limit=limit) as app:
            response = await app.search({**grouped, "facets": ["type"]})
            assert (response.status_code, remaining(response)) == (200, 0)
            error_of(await app.search({"limit": 3}), "rate_limited")


async def test_requests_that_the_scope_forbids_are_counted(limited: Limited) -> None:
    async with limited(rate_limit="3/day") as app:
        orders_only = await new_token(app.settings.database_url, "order")
        codes = [
            (await app.client.post("/v1/gear/search", json={}, headers=bearer(orders_only))).status_code
            for _ in range(5)
        ]
        assert codes == [403, 403, 403, 429, 429]


async def test_what_has_no_valid_token_is_charged_to_its_address(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    find = tokens.find

    async def noted(connection: Any, plaintext: str) -> Any:
        looked_up.append(plaintext)
        return await find(connection, plaintext)

    monkeypatch.setattr(tokens, "find", noted)
    async with limited(address_rate_limit="4/day") as app:
        assert (await app.client.get("/v1/platforms")).status_code == 200
        looked_up.clear()
        responses = [await app.client.get("/v1/platforms", headers=bearer(f"gear_{number}")) for number in range(9)]
        assert [response.status_code for response in responses] == [401] * 4 + [429] * 5
        assert "from this address" in error_of(responses[-1], "rate_limited")["message"]
        assert looked_up == [f"gear_{number}" for number in range(4)], "no lookup for who is over the limit"
        error_of(await app.client.get("/v1/platforms", headers={"Authorization": ""}), "rate_limited")
        for path in ("/health/ready", "/docs", "/openapi.json", "/orders/unknown"):
            error_of(await app.client.get(path), "rate_limited")
        assert (await app.client.get("/health/live")).status_code == 200
        assert (await app.client.get("/v1/platforms")).status_code == 200, "a known token has a limit of its own"


async def test_an_unknown_token_is_looked_up_once(limited: Limited, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: list[str] = []

    async def unknown(_: Any, plaintext: str) -> None:
        looked_up.append(plaintext)

    async with limited() as app:
        monkeypatch.setattr(tokens, "find", unknown)
        for _ in range(5):
            error_of(await app.client.get("/v1/platforms", headers=bearer("gear_unknown")), "unauthorized")
    assert looked_up == ["gear_unknown"]


@pytest.mark.parametrize(
    ("trusted", "sender", "first_is_spared"),
    [
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "192.0.2.1", False),
        ("", "127.0.0.1", False),
        ("127.0.0.1", "127.0.0.1", True),
    ],
)
async def test_forwarded_addresses_are_believed_of_trusted_proxies_alone(
    limited: Limited, trusted: str, sender: str, first_is_spared: bool
) -> None:
    async with limited(address_rate_limit="1/day", trusted_proxies=trusted) as app:
        transport = httpx.ASGITransport(app.app, client=(sender, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://gear.test") as client:

            async def ask(*forwarded: str) -> int:
                headers = [("X-Forwarded-For", address) for address in forwarded]
                return (await client.get("/openapi.json", headers=headers)).status_code

            assert await ask("203.0.113.1") == 200
            assert await ask("203.0.113.2") == (200 if first_is_spared else 429)
            assert await ask("198.51.100.7, 203.0.113.2") == 429, "what the client wrote before it is not believed"


async def test_an_ipv6_network_is_one_address(limited: Limited) -> None:
    async with limited(address_rate_limit="1/day") as app:

        async def ask(address: str) -> int:
            transport = httpx.ASGITransport(app.app, client=(address, 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://gear.test") as client:
                return (await client.get("/openapi.json")).status_code

        assert await ask("2001:db8::1") == 200
        assert await ask("2001:db8::ffff:2") == 429
        assert await ask("2001:db8:0:1::1") == 200
        assert await ask("::ffff:192.0.2.1") == 200
        assert await ask("192.0.2.1") == 429


async def test_a_token_has_so_many_searches_under_way(limited: Limited) -> None:
    async with limited(max_searches_per_token=2, response_cache_mib=0) as app:
        services = app.app.state.services
        engine = services[SearchServices].engine
        gate, arrived = asyncio.Event(), asyncio.Semaphore(0)

        class SlowEngine:
            def __getattr__(self, name: str) -> Any:
                return getattr(engine, name)

            async def search_all(self, *arguments: Any) -> Any:
                arrived.release()
                await gate.wait()
                return await engine.search_all(*arguments)

        services[SearchServices] = replace(services[SearchServices], engine=SlowEngine())
        searches = [_started(app.search({"limit": limit})) for limit in (1, 2)]
        for _ in searches:
            await arrived.acquire()
        refused = await app.search({"limit": 3})
        assert "2 searches" in error_of(refused, "rate_limited")["message"]
        assert refused.headers["Retry-After"] == "1"
        other = await new_token(app.settings.database_url, "search")
        others = _started(app.client.post("/v1/gear/search", json={}, headers=bearer(other)))
        gate.set()
        assert [response.status_code for response in await asyncio.gather(*searches, others)] == [200, 200, 200]
        assert (await app.search({"limit": 3})).status_code == 200


def _started(call: Coroutine[Any, Any, httpx.Response]) -> "asyncio.Task[httpx.Response]":
    return asyncio.create_task(call)


async def test_a_token_may_have_a_limit_of_its_own_in_the_same_window(limited: Limited) -> None:
    async with limited(rate_limit="5/day") as app:
        url = app.settings.database_url
        own, small = await new_token(url, "search", rate_limit=500), await new_token(url, "search", rate_limit=2)
        response = await app.client.get("/v1/platforms", headers=bearer(own))
        assert response.headers["RateLimit-Policy"] == "500;w=86400"
        assert remaining(response) == 499
        assert response.json()["limits"]["requestRate"] == "500/day"
        responses = [await app.client.get("/v1/gear/1", headers=bearer(small)) for _ in range(3)]
        assert [response.status_code for response in responses] == [200, 200, 429]
        assert remaining(await app.client.get("/v1/gear/1")) == 4


async def test_a_limit_of_its_own_holds_where_others_have_none(limited: Limited) -> None:
    async with limited(rate_limit="") as app:
        own = await new_token(app.settings.database_url, "search", rate_limit=7)
        response = await app.client.get("/v1/gear/1", headers=bearer(own))
        assert response.headers["RateLimit-Policy"] == "7;w=1"
        assert "RateLimit-Policy" not in (await app.client.get("/v1/gear/1")).headers
