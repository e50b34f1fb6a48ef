"""Least-privilege users on a secured engine: each does what its part needs, and nothing else."""

import base64
import json
import shutil
import ssl
import time
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.engine.client import Engine
from api.engine.errors import ForbiddenError
from api.settings import Settings
from store.outbox.index_outbox import IndexUpdate
from tests.support.api.waiting import until
from tests.support.node.place import Place
from tests.support.servers import free_port
from tests.support.services.processes import command, gear_api

pytestmark = [pytest.mark.deployment, pytest.mark.timeout(600)]

DOCUMENT = '{"doc": {"price": 1}}'
BULK = '{"index": {"_index": "gear-730", "_id": "1"}}\n{"price": 1}\n'
EVERYBODYS_BANS = [
    ("PUT", "/other", "{}"),
    ("GET", "/other/_search", ""),
    ("GET", "/.opendistro_security/_search", ""),
    ("PUT", "/_cluster/settings", '{"persistent": {"action.auto_create_index": "true"}}'),
    ("GET", "/_plugins/_security/api/internalusers", ""),
    ("PUT", "/_snapshot/away", '{"type": "fs", "settings": {"location": "/tmp/away"}}'),
    ("POST", "/_cluster/reroute", "{}"),
]
BANS = {
    "reader": [
        ("POST", "/gear-730/_update/1", DOCUMENT),
        ("POST", "/_bulk", BULK),
        ("POST", "/gear-730/_delete_by_query", '{"query": {"match_all": {}}}'),
        ("DELETE", "/gear-730/_doc/1", ""),
        ("PUT", "/gear-730-products/_doc/1", "{}"),
        ("DELETE", "/{index}", ""),
        ("PUT", "/gear-999", "{}"),
        ("POST", "/_aliases", '{"actions": [{"remove": {"index": "{index}", "alias": "gear-730"}}]}'),
        ("PUT", "/{index}/_settings", '{"index": {"blocks.write": true}}'),
    ],
    "marker": [
        ("POST", "/gear-730/_search", "{}"),
        ("PUT", "/gear-730/_doc/1", "{}"),
        ("DELETE", "/gear-730/_doc/1", ""),
        ("POST", "/gear-730/_update_by_query", "{}"),
        ("DELETE", "/{index}", ""),
        ("PUT", "/gear-999", "{}"),
        ("POST", "/_aliases", '{"actions": [{"remove": {"index": "{index}", "alias": "gear-730"}}]}'),
    ],
    "api": [
        ("DELETE", "/{index}", ""),
        ("PUT", "/gear-730/_doc/1", "{}"),
        ("DELETE", "/gear-730/_doc/1", ""),
        ("PUT", "/gear-730-products/_doc/1", "{}"),
    ],
    "writer": [
        ("DELETE", "/{index}", ""),
        ("DELETE", "/{index}-products", ""),
        ("POST", "/_aliases", '{"actions": [{"remove": {"index": "{index}-products", "alias": "gear-730-products"}}]}'),
        ("PUT", "/gear-999", "{}"),
        ("POST", "/_aliases", '{"actions": [{"remove": {"index": "{index}", "alias": "gear-730"}}]}'),
        ("PUT", "/{index}/_settings", '{"index": {"blocks.write": true}}'),
    ],
    "loader": [("DELETE", "/other", ""), ("POST", "/_template/all", '{"index_patterns": ["*"]}')],
}


def status_of(place: Place, user: str, method: str, path: str, body: str) -> int:
    """The status of a raw request to the engine."""
    password = (place.node.secrets / f"opensearch_{user}_password").read_text(encoding="utf-8").rstrip("\n")
    login = base64.b64encode(f"gear-{user}:{password}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    request = urllib.request.Request(place.node.url + path, body.encode() or None, headers, method=method)
    trusted = ssl.create_default_context(cafile=str(place.node.secrets / "ca.pem"))
    try:
        with urllib.request.urlopen(request, context=trusted, timeout=30) as response:
            return int(response.status)
    except urllib.error.HTTPError as response:
        with response:
            return response.code


@pytest.mark.parametrize("user", BANS)
def test_a_user_can_do_nothing_else(place: Place, user: str) -> None:
    index = place.run("loader", "indexer", "status", "--platform", "730")["serving"]
    for method, path, body in [*BANS[user], *EVERYBODYS_BANS]:
        status = status_of(place, user, method, path.replace("{index}", index), body.replace("{index}", index))
        assert status == 403, f"{method} {path} by {user}"
    assert status_of(place, user, "GET", "/", "") == (200 if user in ("loader", "writer") else 403)


def test_nobody_is_let_in_without_a_password(place: Place) -> None:
    trusted = ssl.create_default_context(cafile=str(place.node.secrets / "ca.pem"))
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(place.node.url, context=trusted, timeout=30)
    refusal.value.close()
    assert refusal.value.code == 401
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        urllib.request.urlopen(place.node.url, context=ssl.create_default_context(), timeout=30)


def test_the_loader_can_run_every_command(place: Place) -> None:
    platform = ("--platform", "730")
    for arguments in (
        ("load", "items.ndjson", *platform, "--dry-run"),
        ("load", "items.ndjson", *platform),
        ("upsert", "items.ndjson", *platform),
        ("delete", "1", *platform),
        ("rollback", *platform, "--yes"),
        ("doctor", "--fix"),
        ("prune", *platform, "--keep", "1"),
        ("export", *platform, "--output", "export.ndjson"),
    ):
        place.run("loader", "indexer", *arguments)
    (platform_state,) = place.run("loader", "indexer", "status")["platforms"]
    assert len(platform_state["generations"]) == 1


@pytest.mark.parametrize("user", ["writer", "loader"])
def test_old_records_of_deletes_are_removed_by_whom_deletes(place: Place, user: str) -> None:
    place.run(user, "indexer", "delete", "1", "--platform", "730")
    long_ago = (time.time_ns() // 1000) - 3 * 24 * 3600 * 10**6
    record = json.dumps({"id": 4, "version": long_ago, "at": long_ago})
    path = "/gear-730-deletes/_doc/4"
    assert status_of(place, "loader", "PUT", f"{path}?refresh=true", record) == 201
    place.run(user, "indexer", "delete", "1", "--platform", "730")
    assert status_of(place, "loader", "GET", path, "") == 404


async def test_the_marker_can_mark_and_the_reader_cannot(place: Place) -> None:
    item = json.loads((place.folder / "items.ndjson").read_text(encoding="utf-8").splitlines()[0])["id"]
    for user, can in (("marker", True), ("reader", False)):
        names: dict[str, Any] = {
            key.removeprefix("GEAR_").lower(): value for key, value in place.environment(user).items()
        }
        engine = Engine(Settings(**names), 30)
        try:
            update = IndexUpdate(
                platform=730, item=item, version=1, bound=False, attempts=1, leased_until=datetime.now(UTC)
            )
            marking = engine.update_availability([update])
            if can:
                assert await marking == [True]
            else:
                with pytest.raises(ForbiddenError):
                    await marking
        finally:
            await engine.close()


async def test_a_search_an_order_and_the_index_sync_work_as_the_user_of_the_api(place: Place) -> None:
    token = place.run("api", "api", "token", "create", "--name", "t", "--scope", "search", "--scope", "order")["token"]
    port = free_port()
    environment = {**place.environment("api"), "GEAR_API_PORT": str(port), "GEAR_DRAIN_SECONDS": "0"}
    headers = {"Authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{port}"
    async with (
        command(place.folder, environment, "serve", program=gear_api) as process,
        httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client,
    ):
        await process.until_it_serves(client)
        offered = await _walk(client)
        item = next(item for item in offered if item["price"])
        order = {"account": "a", "email": "a@example.com", "platform": "cs2", "item": str(item["id"])}
        placed = await client.post("/v1/gear", json=order)
        assert placed.status_code == 201, placed.text
        await _until(client, item["id"], offered=False)
        moved = await client.post(f"/v1/orders/{placed.json()['order']['id']}/transitions", json={"to": "cancelled"})
        assert moved.status_code == 200, moved.text
        await _until(client, item["id"], offered=True)
        body = json.dumps({"platform": 730, "query": "redline"})
        place.run("api", "api", "explain", str(item["id"]), body)
        log = process.written.read_text(encoding="utf-8")
    assert not [line for line in log.splitlines() if "security_exception" in line or '"level":"error"' in line], log
    assert "revision" not in log, "the response cache may not ask for the index revision"


async def test_the_api_records_changes_and_writes_them_with_the_role_of_the_writer(place: Place) -> None:
    scopes = ("--scope", "search", "--scope", "catalogue")
    token = place.run("api", "api", "token", "create", "--name", "w", *scopes)["token"]
    headers = {"Authorization": f"Bearer {token}"}
    items = "/v1/catalogue/730/items"
    port, writing = free_port(), free_port()
    served = {**place.environment("api"), "GEAR_API_PORT": str(port), "GEAR_DRAIN_SECONDS": "0"}
    writer = {**place.environment("writer"), "GEAR_API_PORT": str(writing), "GEAR_DRAIN_SECONDS": "0"}
    async with (
        command(place.folder, served, "serve", program=gear_api) as process,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client,
    ):
        await process.until_it_serves(client)
        start = (await client.post("/v1/gear/changes", json={})).raise_for_status().json()["next"]
        refused = await client.put(items, json=[{"id": 990001, "name": "AK-47 | Redline"}])
        assert refused.status_code == 503, refused.text
        async with (
            command(place.folder, writer, "serve", program=gear_api) as other,
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{writing}", headers=headers, timeout=60) as writes,
        ):
            await other.until_it_serves(writes)
            bodies: tuple[tuple[str, Any], ...] = (
                ("PUT", [{"id": 990001, "name": "AK-47 | Redline"}]),
                ("DELETE", {"ids": [990001]}),
            )
            for method, body in bodies:
                response = await writes.request(method, items, params={"visible": "true"}, json=body)
                assert response.status_code == 200, response.text
                page = {"since": start, "wait": 30}
                read = (await client.post("/v1/gear/changes", json=page)).raise_for_status().json()
                assert [change["id"] for change in read["changes"]] == [990001], read
                start = read["next"]


def test_a_follower_writes_and_deletes_with_the_role_of_the_writer(place: Place) -> None:
    for change, outcome in (({"name": "AK-47 | Redline"}, "written"), ({"deleted": True}, "deleted")):
        line = json.dumps({"id": 990002, **change})
        followed = place.run("writer", "indexer", "follow", "-", "--platform", "730", stdin=line)
        assert (followed["read"], followed[outcome]) == (1, 1), followed


def test_the_roles_are_those_of_the_prefix(place: Place, tmp_path: Path) -> None:
    shutil.copy(place.folder / "items.ndjson", tmp_path)
    shop = replace(place, folder=tmp_path, prefix="shop")
    place.node.apply("shop")
    try:
        shop.run("api", "api", "migrate")
        shop.run("loader", "indexer", "load", "items.ndjson", "--platform", "730", "--quiet")
        shop.run("writer", "indexer", "delete", "1", "--platform", "730")
        shop.run("loader", "indexer", "doctor", "--fix")
        for user in ("api", "reader"):
            assert status_of(place, user, "POST", "/shop-730/_search", "{}") == 200
            assert status_of(place, user, "POST", "/gear-730/_search", "{}") == 403
        assert status_of(place, "loader", "PUT", "/gear-999", "{}") == 403
        shop.run("loader", "indexer", "prune", "--platform", "730", "--keep", "1")
        serving = shop.run("loader", "indexer", "status", "--platform", "730")["serving"]
        assert status_of(place, "loader", "DELETE", f"/{serving}", "") == 200
    finally:
        place.node.apply()
    assert status_of(place, "api", "POST", "/gear-730/_search", "{}") == 200


async def test_search_alone_works_as_the_reader(place: Place) -> None:
    port = free_port()
    token = place.run("api", "api", "token", "create", "--name", "r", "--scope", "search")["token"]
    environment = {**place.environment("reader"), "GEAR_API_PORT": str(port), "GEAR_DRAIN_SECONDS": "0"}
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        command(place.folder, environment, "serve", program=gear_api) as process,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client,
    ):
        await process.until_it_serves(client)
        await _walk(client)


async def _walk(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    """Every kind of read; the items on offer."""
    search: dict[str, Any] = {"platform": 730, "limit": 100}
    for body in (
        {**search, "query": "redline"},
        {**search, "query": "redlime knfe", "explain": True, "facets": ["weapon", "price"]},
        {**search, "groupBy": "name"},
        {**search, "cursor": "*", "sort": "price_desc"},
    ):
        response = await client.post("/v1/gear/search", json=body)
        assert response.status_code == 200, f"{body}: {response.text}"
    page = (await client.post("/v1/gear/search", json={**search, "cursor": "*", "limit": 5})).json()
    following = {**search, "limit": 5, "cursor": page["nextCursor"]}
    assert (await client.post("/v1/gear/search", json=following)).status_code == 200
    offered: list[dict[str, Any]] = (await client.post("/v1/gear/search", json=search)).json()["gear"]
    for path in (
        f"/v1/gear/{offered[0]['id']}",
        "/v1/gear/suggest?q=red",
        "/v1/gear/prices?platform=730",
        "/v1/platforms",
        "/health/ready",
    ):
        response = await client.get(path)
        assert response.status_code == 200, f"{path}: {response.text}"
    assert response.json() == {"status": "success", "search": True, "orders": True}
    return offered


async def _until(client: httpx.AsyncClient, item: int, *, offered: bool) -> None:
    """Waits until searches offer the item, or do not."""
    body = {"platform": 730, "filters": {"ids": [item]}}

    async def so() -> bool:
        total: int = (await client.post("/v1/gear/search", json=body)).json()["total"]
        return (total == 1) == offered

    await until(so, otherwise=f"{item} is {'not yet' if offered else 'still'} offered")
