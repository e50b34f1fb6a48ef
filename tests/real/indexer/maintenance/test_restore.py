"""Beside a restored database: what the index binds for lost orders stays bound until somebody decides."""

import asyncio
from datetime import UTC, datetime

from store.connection.engine import Store
from store.orders import holds
from store.records import Actor
from tests.support.indexer.examined import codes, documents, findings
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.shop import Shop


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
