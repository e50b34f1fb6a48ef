"""Cached responses under faults: a state of the indices never comes again; an engine that tells none still answers."""

from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from api.engine.client import Engine
from mappings.connection import connect
from mappings.platforms import read_platforms
from tests.support.api.catalogue import put_index, simple_item
from tests.support.app import running, settings_for
from tests.support.faults.answering_wire import answering, response
from tests.support.servers import Node

(PLATFORM,) = read_platforms()


def shown(client: OpenSearch, index: str, price: int) -> None:
    """Gives an item another price, which searches find from then on."""
    client.update(index=index, id="1", body={"doc": {"price": price}}, params={"refresh": "true"})


async def test_a_state_does_not_come_again_with_an_engine_that_was_killed(node: Node, tmp_path: Path) -> None:
    settings = settings_for(node.url, "tkept", tmp_path)
    index = put_index(settings, PLATFORM, map(simple_item, range(3)))
    client, engine = connect(settings), Engine(settings, 30)
    try:
        client.indices.put_settings(index=index, body={"index": {"refresh_interval": "-1"}})
        shown(client, index, 6)
        before = await engine.revision([PLATFORM])
        client.update(index=index, id="1", body={"doc": {"price": 7}})
        assert await engine.revision([PLATFORM]) == before, "searches do not find it yet"
        node.kill()
        node.start()
        client.cluster.health(index=index, params={"wait_for_status": "yellow"}, request_timeout=60)
        revisions = [await engine.revision([PLATFORM])]
        for price in range(8, 14):  # it counts anew what it shows, past the number of before
            shown(client, index, price)
            revisions.append(await engine.revision([PLATFORM]))
        assert len({before, *revisions}) == 1 + len(revisions)
    finally:
        await engine.close()
        client.close()


async def test_an_engine_that_may_not_be_asked_for_its_state_still_answers(tmp_path: Path) -> None:
    refused = response(403, {"error": {"type": "security_exception", "reason": "no permissions"}, "status": 403})
    async with answering(refused) as url:
        engine = Engine(settings_for(url, "t", tmp_path), 5)
        try:
            assert await engine.revision([PLATFORM]) is None
        finally:
            await engine.close()


@pytest.mark.parametrize("replicas", [0, 1])
async def test_a_part_that_goes_away_is_another_state(node: Node, tmp_path: Path, replicas: int) -> None:
    """With a copy that has no place yet, and without."""
    settings = settings_for(node.url, f"tparts{replicas}", tmp_path)
    index = put_index(settings, PLATFORM, map(simple_item, range(3)))
    client = connect(settings)
    try:
        copies = {"auto_expand_replicas": "false", "number_of_replicas": replicas}
        client.indices.put_settings(index=index, body={"index": copies})
        async with running(settings) as app:
            assert (await app.search({})).json()["total"] == 3
            assert (await app.search({})).json()["total"] == 3
            client.indices.close(index=index)
            assert (await app.search({})).status_code == 503
            client.indices.open(index=index, params={"wait_for_active_shards": "1"})
            assert (await app.search({})).json()["total"] == 3
    finally:
        client.close()
