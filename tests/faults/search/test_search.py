"""Faults below the search: each is a 503 in the envelope within a bounded time, never a short list, and it passes."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.background.tasks import BackgroundTasks
from api.orders.services import OrderServices
from api.readiness import KEEP_SECONDS, Readiness
from api.token_cache import TokenCache
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.described_examples import ORDER_BODIES
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import RunningApp, running, settings_for
from tests.support.faults.answering_wire import answering, http, response
from tests.support.indices import drop_indices
from tests.support.servers import TcpProxy
from tests.support.store.postgres import Postgres

BOUND = 8.0
"""Seconds. The engine has 2.5 for an answer, as by default; a busy machine adds to it."""

REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/v1/gear/search", {}),
    ("POST", "/v1/gear/search", {"cursor": "*"}),
    ("GET", "/v1/gear/1", None),
    ("GET", "/v1/gear/suggest?q=ak", None),
    ("GET", "/v1/platforms", None),
]


@pytest.fixture(scope="module")
def proxy(opensearch_url: str) -> Iterator[TcpProxy]:
    """A wire before the real engine."""
    with TcpProxy.before(opensearch_url) as started:
        yield started


@pytest.fixture(scope="module")
async def app(
    opensearch_url: str, proxy: TcpProxy, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningApp]:
    """The app with three items, whose engine is behind that wire."""
    prefix = f"t{secrets.token_hex(5)}"
    (platform,) = read_platforms()
    put_index(
        SearchSettings(opensearch_url=opensearch_url, index_prefix=prefix), platform, map(simple_item, range(1, 4))
    )
    try:
        async with running(
            settings_for(proxy.url, prefix, tmp_path_factory.mktemp("faults"), search_timeout=2.5)
        ) as started:
            yield started
    finally:
        drop_indices(opensearch_url, prefix)


async def ask(app: RunningApp, method: str, path: str, body: Any) -> httpx.Response:
    async with asyncio.timeout(BOUND):
        return await app.client.request(method, path, json=body)


async def all_say_unavailable(app: RunningApp, code: str = "search_unavailable") -> None:
    responses = await asyncio.gather(*(ask(app, *request) for request in REQUESTS))
    for result in responses:
        error_of(result, code)
    assert (await app.client.get("/health/live")).status_code == 200
    await until(lambda: is_ready(app, 503))
    error_of(await ask(app, "GET", "/health/ready", None), code)


async def is_ready(app: RunningApp, status: int = 200, wanted: str = "") -> bool:
    """Whether readiness has this status by now: its answer may be a second old."""
    return (await ask(app, "GET", f"/health/ready{wanted}", None)).status_code == status


async def works_again(app: RunningApp) -> None:
    async def well() -> bool:
        responses = await asyncio.gather(*(ask(app, *request) for request in REQUESTS))
        return all(result.status_code == 200 for result in responses) and await is_ready(app)

    await until(well)
    assert (await app.search({})).json()["total"] == 3


async def test_a_stopped_engine_is_a_503_until_it_is_back(app: RunningApp, proxy: TcpProxy) -> None:
    await works_again(app)
    proxy.refuse()
    try:
        await all_say_unavailable(app)
        error = error_of(await app.search({"limit": 0}), "validation_failed")  # what needs no engine is still answered
        assert error["details"]
    finally:
        proxy.restore()
    await works_again(app)


async def test_a_hanging_engine_is_a_503_within_its_deadline(app: RunningApp, proxy: TcpProxy) -> None:
    proxy.hang()
    try:
        await all_say_unavailable(app)
    finally:
        proxy.restore()
    await works_again(app)


async def test_a_cut_of_idle_connections_is_not_noticed_for_long(app: RunningApp, proxy: TcpProxy) -> None:
    await works_again(app)
    proxy.cut()
    await works_again(app)


async def test_many_searches_during_an_outage_leave_nothing_behind(app: RunningApp, proxy: TcpProxy) -> None:
    async def statuses() -> set[int]:
        return {result.status_code for result in await asyncio.gather(*(app.search({}) for _ in range(100)))}

    async def all_well() -> bool:
        return await statuses() == {200}

    proxy.refuse()
    try:
        assert await statuses() == {503}
    finally:
        proxy.restore()
    await works_again(app)
    await until(all_well)  # a busy machine is too late for some of a hundred, what is left behind would be so for ever


HIT = {"_index": "t-730-1", "_id": "1", "_source": {"id": 1, "product": "karambit"}}
PRODUCT = {"_index": "t-730-1-products", "_id": "karambit", "found": True}
WHOLE: dict[str, Any] = {
    "timed_out": False,
    "_shards": {"total": 2, "failed": 0},
    "hits": {"total": {"value": 1, "relation": "eq"}, "hits": [HIT]},
    "docs": [{**PRODUCT, "_source": {"name": "Karambit", "minorDigits": 2}}],
}


def searched(hits: dict[str, Any]) -> bytes:
    """What answers one search as well as a page with its number, which are two searches in one request."""
    return response(200, {**hits, "responses": [WHOLE, hits]})


REJECTED = {"error": {"type": "rejected_execution_exception", "reason": "the queue is full"}, "status": 429}
BROKEN: dict[str, bytes] = {
    "too many requests": response(429, REJECTED),
    "unavailable": response(503, {"error": {"type": "search_phase_execution_exception"}, "status": 503}),
    "a fault of the engine": response(500, {"error": {"type": "null_pointer_exception"}, "status": 500}),
    "a gateway's own page": http(502, b"<html>Bad Gateway</html>", "text/html"),
    "a gateway's page as 200": http(200, b"<html>Welcome</html>", "text/html"),
    "a gateway's page as 404": http(404, b"<html>Not Found</html>", "text/html"),
    "a gateway's page as 400": http(400, b"<html>Bad Request</html>", "text/html"),
    "wrong password": response(401, {"error": "Unauthorized"}),
    "blocked": response(403, {"error": {"type": "cluster_block_exception"}, "status": 403}),
    "half of the JSON": http(200, b'{"took": 1, "hits": {'),
    "an empty body": http(200, b""),
    "no JSON object": http(200, b"[]"),
    "nothing that was asked for": response(200, {}),
    "not HTTP": b"hello\r\n\r\n",
    "some shards failed": searched({**WHOLE, "_shards": {"total": 2, "failed": 1}}),
    "no shard was asked": searched({**WHOLE, "_shards": {"total": 0, "failed": 0}}),
    "out of time": searched({**WHOLE, "timed_out": True}),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_an_answer_that_is_less_than_whole_is_a_503(name: str, tmp_path: Path) -> None:
    async with answering(BROKEN[name]) as url, running(settings_for(url, "t", tmp_path)) as app:
        error_of(await ask(app, "POST", "/v1/gear/search", {}), "search_unavailable")
        error_of(await ask(app, "POST", "/v1/gear/search", {"cursor": "*"}), "search_unavailable")
        error_of(await ask(app, "GET", "/health/ready", None), "search_unavailable")
        error_of(await ask(app, "GET", "/v1/gear/1", None), "search_unavailable")
        if b"_shards" not in BROKEN[name] and name != "nothing that was asked for":
            error_of(await ask(app, "GET", "/v1/platforms", None), "search_unavailable")


def is_whole(answered: httpx.Response) -> None:
    page = answered.json()
    assert page == {"status": "success", "gear": page["gear"], "total": 1}
    assert [(item["id"], item["name"]) for item in page["gear"]] == [(1, "Karambit")]


async def test_the_whole_answer_is_passed_on(tmp_path: Path) -> None:
    async with answering(searched(WHOLE)) as url, running(settings_for(url, "t", tmp_path)) as app:
        is_whole(await ask(app, "POST", "/v1/gear/search", {}))


def lost(kind: str) -> bytes:
    """What answers a search whose node was lost between its phases."""
    cause = {"type": kind, "reason": "[node-2][phase/fetch/id] disconnected"}
    error = {"type": "search_phase_execution_exception", "phase": "fetch", "root_cause": [cause]}
    return response(500, {"error": error, "status": 500})


def shards_gone() -> bytes:
    """What answers a search whose shards are gone: their index was removed since its alias was read."""
    error = {"type": "search_phase_execution_exception", "phase": "query", "reason": "all shards failed"}
    return response(503, {"error": {**error, "root_cause": [], "failed_shards": [], "grouped": True}, "status": 503})


@pytest.mark.parametrize("answered", [lost("node_disconnected_exception"), shards_gone()], ids=["node", "index"])
async def test_a_search_that_loses_its_shards_is_sent_again(answered: bytes, tmp_path: Path) -> None:
    async with (
        answering(searched(WHOLE), first=[answered]) as url,
        running(settings_for(url, "t", tmp_path)) as app,
    ):
        is_whole(await ask(app, "POST", "/v1/gear/search", {}))
    async with answering(answered) as url, running(settings_for(url, "t", tmp_path)) as app:
        error_of(await ask(app, "POST", "/v1/gear/search", {}), "search_unavailable")


async def test_a_connection_reset_within_an_answer_is_a_503(tmp_path: Path) -> None:
    content = http(200, b'{"timed_out": false, "_shards": {"total": 1', length=5000)
    async with answering(content, cut=True) as url, running(settings_for(url, "t", tmp_path)) as app:
        error_of(await ask(app, "POST", "/v1/gear/search", {}), "search_unavailable")


async def test_an_answer_that_stops_in_its_middle_is_a_503(tmp_path: Path) -> None:
    content = http(200, b'{"timed_out": false, "_shards": {"total": 1', length=5000)
    async with answering(content) as url, running(settings_for(url, "t", tmp_path, search_timeout=0.5)) as app:
        error_of(await ask(app, "POST", "/v1/gear/search", {}), "search_unavailable")


async def test_the_engines_address_and_words_are_not_reported_to_clients(tmp_path: Path) -> None:
    content = response(503, {"error": {"type": "x", "reason": "node secret-host-7 [10.1.2.3] failed"}, "status": 503})
    async with answering(content) as url, running(settings_for(url, "t", tmp_path)) as app:
        text = (await ask(app, "POST", "/v1/gear/search", {})).text
        assert "secret-host" not in text
        assert url.rpartition(":")[2] not in text


async def test_a_list_is_never_short_for_a_shard_that_is_away(opensearch_url: str, tmp_path: Path) -> None:
    """An alias over two indices, of which one has no shard in service."""
    prefix = f"t{secrets.token_hex(5)}"
    settings = settings_for(opensearch_url, prefix, tmp_path)
    (platform,) = read_platforms()
    client = connect(settings)
    try:
        put_index(settings, platform, map(simple_item, range(1, 4)))
        body = read_definition().create_body()
        body["settings"] = {**body["settings"], "index": {"routing.allocation.require._name": "nobody"}}
        away = f"{prefix}-730-away"
        client.indices.create(index=away, body=body, params={"wait_for_active_shards": "0"})
        async with running(settings) as app:
            assert (await app.search({})).json()["total"] == 3
            client.indices.put_alias(index=away, name=f"{prefix}-730")
            error_of(await ask(app, "POST", "/v1/gear/search", {}), "search_unavailable")
            await until(lambda: is_ready(app, 503))
            client.indices.delete_alias(index=away, name=f"{prefix}-730")
            assert (await app.search({})).json()["total"] == 3
    finally:
        client.close()
        drop_indices(opensearch_url, prefix)


async def test_without_the_store_searches_go_on_and_orders_are_a_503(
    opensearch_url: str, app: RunningApp, tmp_path: Path, postgres: Postgres, database: str
) -> None:
    url = postgres.url(database)
    settings = settings_for(opensearch_url, app.settings.index_prefix, tmp_path, database_url=url)
    async with running(settings) as on_postgres:
        await works_again(on_postgres)
        services, tasks = on_postgres.app.state.services, BackgroundTasks()
        services[TokenCache] = TokenCache(services[OrderServices].store, tasks, fresh_seconds=0)
        await works_again(on_postgres)  # the token is known, and from now on the store is asked for it
        await postgres.stop_serving(database)
        await until(lambda: is_ready(on_postgres, 503, "?for=orders"))
        error_of(await ask(on_postgres, "GET", "/health/ready?for=orders", None), "store_unavailable")
        for wanted in ("", "?for=search"):
            ready = await ask(on_postgres, "GET", f"/health/ready{wanted}", None)
            assert (ready.status_code, ready.json()) == (200, {"status": "success", "search": True, "orders": False})
        for request in REQUESTS:
            assert (await ask(on_postgres, *request)).status_code == 200, request
        first = (await ask(on_postgres, "POST", "/v1/gear/search", {"cursor": "*", "limit": 1})).json()
        body = {"cursor": first["nextCursor"], "limit": 1}
        assert (await ask(on_postgres, "POST", "/v1/gear/search", body)).status_code == 200
        orders: list[tuple[str, str, Any]] = [("POST", "/v1/gear", ORDER_BODIES["least"]), ("GET", "/v1/orders", None)]
        for method, path, order in orders:
            error_of(await ask(on_postgres, method, path, order), "store_unavailable")
        unknown_token = {"Authorization": "Bearer gear_" + "x" * 43}
        refused = await on_postgres.client.post("/v1/gear/search", json={}, headers=unknown_token)
        error_of(refused, "store_unavailable")
        assert (await on_postgres.client.get("/health/live")).status_code == 200
        await postgres.serve_again(database)
        await works_again(on_postgres)
        await until(lambda: is_ready(on_postgres, 200, "?for=orders"))
        await tasks.close()


async def test_an_item_that_is_bound_is_not_offered_without_the_store_either(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    put_index(settings, next(iter(read_platforms())), map(simple_item, range(1, 4)))
    async with running(settings) as ordering:
        first = (await ordering.search({"cursor": "*", "limit": 1})).json()
        (offered,) = first["gear"]
        sold = next(item for item in (1, 2, 3) if item != offered["id"])
        placed = await ordering.client.post("/v1/gear", json={**ORDER_BODIES["least"], "item": str(sold)})
        assert placed.status_code == 201

        async def is_hidden() -> bool:
            return bool((await ordering.search({})).json()["total"] == 2)

        await until(is_hidden)
        (tmp_path / "gear.db").rename(tmp_path / "away.db")
        assert not (await ordering.client.get(f"/v1/gear/{sold}")).json()["available"]
        assert (await ordering.client.get(f"/v1/gear/{offered['id']}")).json()["available"]
        rest = (await ordering.search({"cursor": first["nextCursor"], "limit": 10})).json()
        assert sold not in [item["id"] for item in rest["gear"]]
        (tmp_path / "away.db").rename(tmp_path / "gear.db")


async def test_an_index_that_this_version_cannot_read_is_not_ready(
    opensearch_url: str, index_prefix: str, tmp_path: Path
) -> None:
    settings = settings_for(opensearch_url, index_prefix, tmp_path)
    index = put_index(settings, next(iter(read_platforms())), map(simple_item, range(1, 4)))
    async with running(settings) as app:
        assert await is_ready(app)
        with closing(connect(settings)) as client:
            client.indices.put_mapping(index=index, body={"_meta": {"fingerprint": "0badf00d"}})
        await until(lambda: is_ready(app, 503))
        error_of(await ask(app, "GET", "/health/ready", None), "search_unavailable")
        with closing(connect(settings)) as client:
            meta = {"fingerprint": "0badf00d", "readBy": [read_definition().fingerprint]}
            client.indices.put_mapping(index=index, body={"_meta": meta})
        await until(lambda: is_ready(app))


async def test_probes_are_no_load(app: RunningApp) -> None:
    await works_again(app)
    readiness = app.app.state.services[Readiness]
    engine_requests: list[None] = []
    engine = app.app.state.services[OrderServices].engine  # it answers probes
    check = engine.ready

    async def counted(platforms: Any) -> None:
        engine_requests.append(None)
        await check(platforms)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "ready", counted)
        started = time.monotonic()
        while not engine_requests:  # the answer before may be a second old
            await readiness.check()
        for _ in range(10):
            await asyncio.gather(*(readiness.check() for _ in range(20)))
        assert len(engine_requests) <= 1 + (time.monotonic() - started) / KEEP_SECONDS
