"""Faults below a cursor: an engine that was started anew, or that holds all the views it may, is reported as such."""

from pathlib import Path

from mappings.connection import connect
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.api.envelope import error_of
from tests.support.api.waiting import until
from tests.support.app import running, settings_for
from tests.support.search.cursor_pages import ids, started
from tests.support.servers import Node

ITEMS = 5


async def test_too_many_cursors_are_a_503_that_says_so_until_one_has_ended(node: Node, tmp_path: Path) -> None:
    settings = settings_for(node.url, "tmany", tmp_path)
    (platform,) = read_platforms()
    put_index(settings, platform, map(simple_item, range(ITEMS)))
    client = connect(settings)
    body = {"limit": 2}
    try:
        client.cluster.put_settings(body={"transient": {"search.max_open_pit_context": 2}})
        async with running(settings) as app:
            cursor = await started(app, body)
            await started(app, body)
            refused = await app.search({**body, "cursor": "*"})
            assert "too many cursors" in error_of(refused, "search_unavailable")["message"]
            assert int(refused.headers["Retry-After"]) > 1
            assert (await app.search({"limit": 2})).status_code == 200
            while cursor:
                cursor = (await app.search({**body, "cursor": cursor})).json()["nextCursor"]
            assert await ids(app.search, body) == (list(range(ITEMS)), {ITEMS})
    finally:
        client.cluster.put_settings(body={"transient": {"search.max_open_pit_context": None}})
        client.close()


async def test_a_cursor_does_not_outlive_a_restart_of_the_engine(node: Node, tmp_path: Path) -> None:
    settings = settings_for(node.url, "tanew", tmp_path)
    (platform,) = read_platforms()
    put_index(settings, platform, map(simple_item, range(ITEMS)))
    async with running(settings) as app:
        cursor = await started(app, {"limit": 2})
        node.stop()
        error_of(await app.search({"limit": 2, "cursor": cursor}), "search_unavailable")
        node.start()

        async def reported() -> bool:
            return (await app.search({"limit": 2, "cursor": cursor})).status_code == 410

        await until(reported)
        error_of(await app.search({"limit": 2, "cursor": cursor}), "cursor_expired")
        assert await ids(app.search, {"limit": 2}) == (list(range(ITEMS)), {ITEMS})
