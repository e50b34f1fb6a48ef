"""`GET /v1/operations`: what serves, who loads, what waits; what does not answer is null."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from indexer.engine.hidden_index import now_text
from indexer.engine.retry import RetryPolicy
from indexer.engine.tombstones import Tombstones
from indexer.loading.resume import Checkpoint, Checkpoints
from indexer.locking.owner import Owner
from indexer.locking.record import LockRecord, LockRecords
from mappings.connection import connect
from mappings.platforms import read_platforms
from tests.support.api.envelope import error_of
from tests.support.api.operators import ITEMS, Shop, operated_shop
from tests.support.api.waiting import until
from tests.support.app import new_token, running, settings_for
from tests.support.indexer.fixtures import Place
from tests.support.indexer.follower import FollowerProcess
from tests.support.indices import drop_indices

FILLED = "20261123101500000-72ff78c6"


@pytest.fixture
async def shop(opensearch_url: str, tmp_path: Path) -> AsyncIterator[Shop]:
    async with operated_shop(opensearch_url, tmp_path) as started:
        yield started


async def test_it_shows_what_serves_and_what_waits(shop: Shop) -> None:
    async def is_calm() -> bool:  # red while another test makes an index
        response = await shop.called("GET", "/v1/operations", 200)
        return response["engine"]["status"] in ("green", "yellow")

    await until(is_calm, otherwise="the engine stays red")
    response = await shop.called("GET", "/v1/operations", 200)
    assert (response["search"], response["orders"]) == (True, True)
    assert response["engine"]["nodes"] >= 1
    (platform,) = response["platforms"]
    (generation,) = platform["generations"]
    assert (platform["slug"], platform["work"]) == ("cs2", None)
    assert (generation["serving"], generation["items"]) == (True, len(ITEMS))
    assert generation["index"].endswith(generation["fingerprint"])
    client = connect(shop.app.settings)
    stats = client.indices.stats(index=f"{generation['index']}*", metric="store")
    client.close()
    assert len(stats["indices"]) == 2
    assert generation["bytes"] == stats["_all"]["primaries"]["store"]["size_in_bytes"]
    assert set(response["backlogs"].values()) == {0}


async def test_it_shows_a_running_load_with_its_progress(shop: Shop) -> None:
    settings = shop.app.settings
    alias = settings.alias(next(iter(read_platforms())).id)
    index, owner = f"{alias}-{FILLED}", Owner(id="e15e", host="elsewhere", pid=7, machine="another", started="1")
    client = connect(settings, timeout=30)
    now = now_text()
    try:
        Tombstones(client, alias, RetryPolicy(10)).create()
        lock = LockRecord(owner=owner, command="load", index=index, since=now, heartbeat=now, expiry=60)
        LockRecords(client, alias).create(lock)
        assert await work(shop) == expected(index, now, read=None, indexed=None)
        checkpoint = Checkpoint(owner=owner.id, sources=("x",), size=None, read=12, items=10)
        Checkpoints(client, alias, index).write(checkpoint)
        assert await work(shop) == expected(index, now, read=12, indexed=10)
    finally:
        client.close()


async def work(shop: Shop) -> Any:
    """Who is at work on the only platform."""
    return (await shop.called("GET", "/v1/operations", 200))["platforms"][0]["work"]


def expected(index: str, now: str, **more: int | None) -> dict[str, Any]:
    return {"command": "load", "host": "elsewhere", "index": index, "since": now, "heartbeat": now, **more}


async def test_it_shows_loads_and_followers_with_what_they_refused_and_why(place: Place, tmp_path: Path) -> None:
    place.load([{"id": 1, "name": "AK-47 | Redline", "price": 1}, {"id": 2}], "--max-rejects", "100")
    environment = place.environment
    settings = settings_for(
        environment["GEAR_OPENSEARCH_URL"], environment["GEAR_INDEX_PREFIX"], tmp_path, search_timeout=30
    )
    followers = [await asyncio.to_thread(FollowerProcess, place, "-") for _ in range(2)]
    async with running(settings) as app:

        async def intakes() -> list[dict[str, Any]]:
            response = (await app.client.get("/v1/operations")).json()
            listed: list[dict[str, Any]] = response["platforms"][0]["intakes"]
            return listed

        for follower in followers:
            follower.write(b"nope", {"id": 2}, {"id": 3}, {"id": 4, "name": "x", "price": 1})
            await asyncio.to_thread(follower.wait_read, 4)
        await asyncio.to_thread(followers[0].end)

        async def all_shown() -> bool:
            facts = [(each["command"], each["read"], each["ended"]) for each in await intakes()]
            return sorted(facts) == [("follow", 4, False), ("follow", 4, True), ("load", 2, True)]

        await until(all_shown, seconds=30)  # a search shows what was written up to a second ago
        (load,) = [each for each in await intakes() if each["command"] == "load"]
        assert (load["read"], load["rejected"], load["ended"], load["lag"]) == (2, 1, True, None)
        assert [each["count"] for each in load["reasons"]] == [1]
        assert load["reasons"][0]["reason"].startswith("name: ")
        followers[1].process.kill()
        await asyncio.to_thread(followers[1].end)
        followed = [each for each in await intakes() if each["command"] == "follow"]
        assert sorted(each["ended"] for each in followed) == [False, True]
        for each in followed:
            assert (each["source"], each["read"], each["rejected"]) == ("stdin", 4, 3)
            assert each["heartbeat"] >= each["since"]
            assert [reason["count"] for reason in each["reasons"]] == [2, 1]


async def test_a_platform_that_was_never_loaded_has_no_generations(opensearch_url: str, tmp_path: Path) -> None:
    settings = settings_for(opensearch_url, "never-loaded", tmp_path)
    async with running(settings) as app:
        response = (await app.client.get("/v1/operations")).json()
    drop_indices(opensearch_url, settings.index_prefix)
    assert response["platforms"] == [{"id": 730, "slug": "cs2", "generations": [], "work": None, "intakes": []}]


async def test_without_the_engine_the_rest_is_reported(tmp_path: Path) -> None:
    async with running(settings_for("http://127.0.0.1:1", "none", tmp_path, search_timeout=1)) as app:
        responses = []

        async def has_backlogs() -> bool:
            responses.append((await app.client.get("/v1/operations")).json())
            return responses[-1]["backlogs"] is not None  # a store that is slow is left out

        await until(has_backlogs)
    response = responses[-1]
    assert (response["status"], response["search"], response["engine"], response["platforms"]) == (
        "success",
        False,
        None,
        None,
    )
    assert response["backlogs"]["activeOrders"] == 0


async def test_it_needs_the_scope_operate(shop: Shop) -> None:
    token = await new_token(shop.app.settings.database_url, "search", "order", "fulfil", "catalogue", "metrics")
    response = await shop.app.client.get("/v1/operations", headers={"Authorization": f"Bearer {token}"})
    error_of(response, "forbidden")
