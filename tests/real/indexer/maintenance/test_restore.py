"""Beside a restored database: what the index binds for lost orders stays bound until somebody decides."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from store.connection.engine import Store
from store.orders import holds
from store.records import Actor
from tests.support.indexer.examined import codes, documents, findings
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.shop import Shop
from tests.support.indexer.wire import Fault, Wire, pass_all


@pytest.fixture
def lost(place: Place) -> str:
    """The serving index, which binds item 2 for an order that the database does not have."""
    Shop(place.environment["GEAR_DATABASE_URL"]).open()
    place.load(items(3))
    index: str = place.load(items(3))["index"]
    place.client.update(index=index, id="2", body={"doc": {"bound": True}}, params={"refresh": "true"})
    return index


def decide(place: Place, decision: str) -> None:
    async def work() -> None:
        store = Store(place.environment["GEAR_DATABASE_URL"])
        try:
            async with store.transaction() as connection:
                change = holds.keep if decision == "keep" else holds.release
                await change(connection, 730, [2], Actor.command("ann"), datetime.now(UTC))
        finally:
            await store.close()

    asyncio.run(work())


def test_a_load_after_a_restore_waits_for_decisions(place: Place, lost: str) -> None:
    refused = place.load(items(3), code=1)
    assert "hides 1 items for orders that the database" in refused["error"]
    assert "gear-api reconcile" in refused["error"]
    assert documents(place, lost)["2"]["bound"] is True
    decide(place, "keep")
    index = place.load(items(3))["index"]
    assert documents(place, index)["2"]["bound"] is True
    decide(place, "release")
    assert documents(place, place.load(items(3))["index"])["2"]["bound"] is False


def test_a_rollback_after_a_restore_waits_for_decisions(place: Place, lost: str) -> None:
    refused = place.json("rollback", "--platform", "730", "--yes", code=1)
    assert "gear-api reconcile" in refused["error"]
    assert documents(place, lost)["2"]["bound"] is True


def test_an_upsert_after_a_restore_keeps_the_mark(place: Place, lost: str) -> None:
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(items(3)))
    assert {number: document["bound"] for number, document in documents(place, lost).items()} == {
        "1": False,
        "2": True,
        "3": False,
    }


PARTIAL: dict[str, Any] = {
    "count": 0,
    "timed_out": False,
    "hits": {"hits": []},
    "_shards": {"total": 2, "successful": 1, "skipped": 0, "failed": 1},
}


def once_partial(wire: Wire, asked: bytes) -> list[str]:
    """Has one shard fail once for such a question; a search that takes no partial answer gets none."""
    paths: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if asked not in body:
            return None
        wire.rule = pass_all
        paths.append(path)
        if "allow_partial_search_results=false" in path:
            return Fault("response", 503, b"{}")
        return Fault("response", 200, orjson.dumps(PARTIAL))

    wire.rule = rule
    return paths


def test_a_load_believes_no_partial_answer_about_what_is_hidden(place: Place, lost: str, wire: Wire) -> None:
    paths = once_partial(wire, b'{"query":{"term":{"bound":true}}}')
    assert "hides 1 items for orders that the database" in place.load(items(3), code=1)["error"]
    assert len(paths) == 1


def test_an_upsert_believes_no_partial_answer_about_what_is_hidden(place: Place, lost: str, wire: Wire) -> None:
    paths = once_partial(wire, b'{"term":{"bound":true}}')
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(items(3)))
    assert documents(place, lost)["2"]["bound"] is True
    assert len(paths) == 1


def test_a_release_that_the_index_has_not_heard_of_for_long_needs_no_decision(place: Place) -> None:
    shop = Shop(place.environment["GEAR_DATABASE_URL"]).open()
    shop.sell(2)
    index = place.load(items(3))["index"]
    shop.publish()
    shop.cancel(2)
    shop.age()
    assert documents(place, index)["2"]["bound"] is True
    assert codes(findings(place)) == ["index-sync-pending"]
    place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(items(3)))
    assert documents(place, index)["2"]["bound"] is False, "upsert writes what the orders say"
    place.client.update(index=index, id="2", body={"doc": {"bound": True}}, params={"refresh": "true"})
    shop.age()
    assert documents(place, place.load(items(3))["index"])["2"]["bound"] is False
