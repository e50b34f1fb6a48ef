"""The rate limit: a token that asks too often waits, others do not notice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.support.api.envelope import error_of
from tests.support.app import RunningApp, new_token, running, settings_for


@pytest.fixture
async def limited(app: RunningApp, tmp_path: Path) -> AsyncIterator[RunningApp]:
    """The same items behind an app that takes 5 requests a second of each token."""
    given = app.settings
    settings = settings_for(given.opensearch_url, given.index_prefix, tmp_path, rate_limit="5 per 2 seconds")
    async with running(settings) as started:
        yield started


async def test_more_than_the_limit_is_a_429_for_this_token_only(limited: RunningApp) -> None:
    async def ask(token: str) -> httpx.Response:
        return await limited.client.get("/v1/platforms", headers={"Authorization": f"Bearer {token}"})

    answers = [await ask(limited.token) for _ in range(6)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    error = error_of(answers[5], "rate_limited")
    assert "5 per 2 second" in error["message"]
    assert 1 <= int(answers[5].headers["Retry-After"]) <= 3
    other = await new_token(limited.settings.database_url, "search")
    assert (await ask(other)).status_code == 200
    assert (await limited.client.get("/health/live")).status_code == 200
    await asyncio.sleep(int(answers[5].headers["Retry-After"]))
    assert (await ask(limited.token)).status_code == 200


async def test_the_limit_is_over_all_operations_and_before_the_body(limited: RunningApp) -> None:
    for _ in range(5):
        await limited.client.get("/v1/gear/1")
    error_of(await limited.client.post("/v1/gear/search", content=b"{"), "rate_limited")
    error_of(await limited.client.post("/v1/gear", content=b"{"), "rate_limited")
    told = (await limited.client.get("/openapi.json")).status_code
    assert told == 200


async def test_unknown_tokens_are_not_counted(limited: RunningApp) -> None:
    for _ in range(7):
        error_of(await limited.client.get("/v1/platforms", headers={"Authorization": "Bearer x"}), "unauthorized")
