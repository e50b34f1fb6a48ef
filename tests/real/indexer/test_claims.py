"""Orders and rebuilds: what is sold stays hidden in a new or an older generation, and no change meanwhile is missed."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexer.orders import claims
from store import migrate
from store.auth import tokens
from store.connection.engine import Store
from store.orders import orders
from store.outbox import index_outbox
from store.outbox.index_outbox import MaskWork
from tests.real.indexer.conftest import Place, items
from tests.support.indexer.wire import Fault, Wire
from tests.support.store.buyer import an_order


class Shop:
    """The orders' database, used as the API uses it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._token = ""
        self._orders: dict[int, str] = {}

    def _run(self, work: Callable[[Store], Coroutine[Any, Any, Any]]) -> Any:
        async def whole() -> Any:
            store = Store(self._url)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(whole())

    def open(self) -> "Shop":
        async def work(store: Store) -> None:
            await migrate.upgrade(self._url)
            async with store.transaction() as connection:
                created = await tokens.create(connection, "shop", ["order"], False, None, datetime.now(UTC))
            self._token = created.token.id

        self._run(work)
        return self

    def sell(self, *numbers: int) -> None:
        """Places an order of each item; the dispatcher has told the index of none of them."""

        async def work(store: Store) -> None:
            for number in numbers:
                async with store.transaction() as connection:
                    order = await orders.place(connection, an_order(self._token, number), datetime.now(UTC))
                self._orders[number] = order.id

        self._run(work)

    def cancel(self, number: int) -> None:
        """Lets the item go."""

        async def work(store: Store) -> None:
            async with store.transaction() as connection:
                await orders.move(
                    connection, self._orders.pop(number), ["created"], "cancelled", None, datetime.now(UTC)
                )

        self._run(work)

    def told(self) -> dict[int, bool]:
        """Takes what the index is still to be told: the item, and whether it is bound."""

        async def work(store: Store) -> dict[int, bool]:
            now = datetime.now(UTC)
            async with store.transaction() as connection:
                batch: list[MaskWork] = await index_outbox.lease(connection, now, 30, 10_000)
                for one in batch:
                    await index_outbox.applied(connection, [one])
            return {one.item: one.bound for one in batch}

        found: dict[int, bool] = self._run(work)
        return found

    def age(self) -> None:
        """Makes all changes so far an hour older."""

        async def work(store: Store) -> None:
            from sqlalchemy import update

            from store.schema import masks as rows

            async with store.transaction() as connection:
                await connection.execute(update(rows).values(updated_at=datetime.now(UTC) - timedelta(hours=1)))

        self._run(work)


@pytest.fixture
def shop(place: Place) -> Shop:
    return Shop(place.environment["GEAR_DATABASE_URL"]).open()


def _bound(place: Place, index: str) -> list[int]:
    place.client.indices.refresh(index=index)
    hits = place.client.search(index=index, body={"query": {"term": {"bound": True}}, "sort": ["id"], "size": 1000})
    return [int(hit["_id"]) for hit in hits["hits"]["hits"]]


def test_sold_items_are_hidden_in_a_new_index_from_the_start(
    place: Place, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "PAGE", 2)
    shop.sell(1, 2, 3, 5, 99)
    report = place.load(items(6))
    assert report["bound"] == 4  # 99 is not in the catalogue
    assert _bound(place, report["index"]) == [1, 2, 3, 5]
    document = place.client.get(index=place.alias, id="1")["_source"]
    assert document["item"]["name"] == "Item 1"


def test_what_is_bound_or_changed_meanwhile_is_told_again(place: Place, shop: Shop) -> None:
    shop.sell(1, 2, 3)
    shop.cancel(3)
    assert shop.told() == {1: True, 2: True, 3: False}
    shop.age()
    assert shop.told() == {}
    place.load(items(6))
    assert shop.told() == {1: True, 2: True}


def test_an_order_placed_between_the_marks_and_the_swap_is_told_to_the_new_index(
    place: Place, shop: Shop, wire: Wire
) -> None:
    """The dispatcher has told the old index by then, and would never tell the new one."""
    shop.sell(1)

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            shop.sell(4)
            shop.cancel(1)
            assert shop.told() == {1: False, 4: True}
        return None

    wire.rule = rule
    report = place.load(items(6))
    assert _bound(place, report["index"]) == [1]
    assert shop.told() == {1: False, 4: True}


def test_a_rollback_marks_what_is_sold_now(place: Place, shop: Shop) -> None:
    shop.sell(1, 2)
    first = place.load(items(6))["index"]
    place.load(items(3, first=4))
    shop.cancel(2)
    shop.sell(3)
    assert _bound(place, first) == [1, 2]
    answer = place.json("rollback", "--platform", "730")
    assert (answer["index"], answer["bound"]) == (first, 2)
    assert _bound(place, first) == [1, 3]
    assert shop.told() == {1: True, 2: False, 3: True}


def test_a_database_that_does_not_answer_stops_the_swap_unless_it_is_left_out(place: Place) -> None:
    old = place.load(items(2))["index"]
    database = Path("orders.db")
    database.write_bytes(b"this is no database" * 100)
    report = place.load(items(5), "--give-up-after", "0.3", code=1)
    assert "GEAR_DATABASE_URL" in report["error"]
    assert "--without-orders" in report["error"]
    assert place.indices() == [old]
    assert place.load(items(5), "--without-orders")["swapped"] is True
    assert "--without-orders" in place.json("rollback", "--platform", "730", code=1)["error"]
    assert place.json("rollback", "--platform", "730", "--without-orders")["index"] == old


def test_a_database_that_goes_away_after_the_swap_is_told(place: Place, shop: Shop, wire: Wire) -> None:
    shop.sell(1)

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if path.startswith("/_aliases"):
            Path("orders.db").write_bytes(b"this is no database" * 100)
            for left in Path().glob("orders.db-*"):
                left.unlink()
        return None

    wire.rule = rule
    report = place.load(items(3), "--give-up-after", "0.5", code=1)
    assert report["swapped"] is True
    assert "the swap is done, but" in report["error"]
    assert _bound(place, report["index"]) == [1]


def test_a_database_that_is_busy_for_a_moment_is_waited_for(place: Place, shop: Shop) -> None:
    shop.sell(1)
    whole = Path("orders.db").read_bytes()
    Path("orders.db").write_bytes(b"this is no database" * 100)
    back = threading.Timer(0.8, lambda: Path("orders.db").write_bytes(whole))
    back.start()
    report = place.load(items(2))
    back.join()
    assert report["bound"] == 1


def test_without_a_database_there_are_no_orders_and_none_is_made(place: Place) -> None:
    assert place.load(items(2))["bound"] == 0
    assert not Path("orders.db").exists()


def test_a_load_in_another_folder_does_not_offer_what_is_sold(place: Place, shop: Shop) -> None:
    shop.sell(1)
    old = place.load(items(3))["index"]
    Path("orders.db").rename("elsewhere.db")
    for file in Path().glob("orders.db-*"):
        file.unlink()
    report = place.load(items(3), code=1)
    assert "hides 1 ordered items" in report["error"]
    assert "--without-orders" in report["error"]
    assert place.indices() == [old]
    assert _bound(place, old) == [1]
    assert not Path("orders.db").exists()
    assert place.load(items(3), "--without-orders")["swapped"] is True
