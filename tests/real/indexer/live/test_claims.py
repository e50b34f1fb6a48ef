"""Orders and rebuilds: what is sold stays hidden in a new or an older generation, and no change meanwhile is missed."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

import indexer.orders.claims
from indexer.engine.bulk import index_lines
from indexer.engine.retry import RetryPolicy
from indexer.orders.claims import Claims, reenqueue_after_swap, set_bound
from indexer.orders.database import OrdersDatabase
from tests.support.indexer.examined import bound_in
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import create_generation
from tests.support.indexer.live_changes import changed_item, upsert
from tests.support.indexer.shop import Shop


def test_sold_items_are_hidden_in_a_new_index_from_the_start(place: Place, shop: Shop) -> None:
    shop.sell(1, 2, 3, 5, 99)
    report = place.load(items(6))
    assert report["bound"] == 4  # 99 is not in the catalogue
    assert bound_in(place, report["index"]) == [1, 2, 3, 5]
    document = place.client.get(index=place.alias, id="1")["_source"]
    assert document["name"] == "Item 1"


def test_items_are_bound_while_live_changes_write_them(place: Place) -> None:
    """Else a load would end at its last step."""
    index, numbers = f"{place.alias}-20200101000000000-00000000", range(300)
    create_generation(place.client, index)
    written, ended = threading.Event(), threading.Event()

    def follow() -> None:
        version = 0
        while not ended.is_set():
            version += 1000  # as time goes on, faster than updates count up
            changes = [index_lines(number, version, b'{"id":%d,"bound":false}' % number) for number in numbers]
            assert place.client.bulk(body=b"".join(changes), index=index)["errors"] is False
            written.set()

    with ThreadPoolExecutor() as threads:
        follower = threads.submit(follow)
        try:
            assert written.wait(60)
            for _ in range(10):
                assert set_bound(place.client, index, [*numbers], RetryPolicy(30), bound=True) == len(numbers)
        finally:
            ended.set()
        follower.result()


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer.orders.claims, "PAGE_ITEMS", 2)


@pytest.mark.usefixtures("pages_of_two")
def test_every_page_of_the_orders_is_read(place: Place, shop: Shop) -> None:
    shop.sell(1, 2, 3, 5, 99)
    with OrdersDatabase(place.environment["GEAR_DATABASE_URL"]) as database:
        claims = Claims(730, database, RetryPolicy(1))
        assert claims.all() == {1, 2, 3, 5, 99}
        assert claims.among([1, 4, 5, 6, 99]) == {1, 5, 99}
        assert claims.reenqueue_ever_ordered([1, 2, 3, 4]) == 3
        assert claims.reenqueue_changed(datetime.now(UTC), set()) == 5


@pytest.mark.usefixtures("pages_of_two")
def test_what_changed_by_a_clock_that_is_behind_is_published_again(place: Place, shop: Shop) -> None:
    """An order has the time of the API's machine, which may be another than the loader's."""
    shop.sell(1, 2)
    with OrdersDatabase(place.environment["GEAR_DATABASE_URL"]) as database:
        claims = Claims(730, database, RetryPolicy(1))
        with reenqueue_after_swap(claims, datetime.now(UTC), claims.all()):
            shop.sell(4)
            shop.cancel(1)
            assert shop.publish() == {1: False, 2: True, 4: True}
            shop.age()
    assert shop.publish() == {1: False, 4: True}, "and no more: new orders wait behind it"


def test_what_was_sold_before_is_not_published_again(place: Place, shop: Shop) -> None:
    """Else new orders would wait behind everything that was ever sold."""
    shop.sell(1, 2, 3)
    shop.cancel(3)
    assert shop.publish() == {1: True, 2: True, 3: False}
    shop.age()
    first = place.load(items(6))["index"]
    second = place.load(items(6))["index"]
    assert place.json("rollback", "--platform", "730")["index"] == first
    assert shop.publish() == {}
    assert bound_in(place, first) == bound_in(place, second) == [1, 2]


def test_a_rollback_binds_what_is_sold_now(place: Place, shop: Shop) -> None:
    shop.sell(1, 2)
    first = place.load(items(6))["index"]
    place.load(items(3, first=4))
    shop.cancel(2)
    shop.sell(3)
    assert bound_in(place, first) == [1, 2]
    response = place.json("rollback", "--platform", "730")
    assert (response["index"], response["bound"]) == (first, 2)
    assert bound_in(place, first) == [1, 3]
    assert shop.publish() == {1: True, 2: False, 3: True}


def test_a_database_that_does_not_answer_stops_the_swap_unless_it_is_left_out(place: Place) -> None:
    old = place.load(items(2))["index"]
    database = Path("orders.db")
    database.write_bytes(b"this is no database" * 100)
    report = place.load(items(5), "--retry-timeout", "0.3", code=1)
    assert "GEAR_DATABASE_URL" in report["error"]
    assert "--without-orders" in report["error"]
    assert place.indices() == [old]
    assert place.load(items(5), "--without-orders")["swapped"] is True
    assert "--without-orders" in place.json("rollback", "--platform", "730", code=1)["error"]
    assert place.json("rollback", "--platform", "730", "--without-orders")["index"] == old


def test_a_database_that_is_busy_for_a_moment_is_waited_for(place: Place, shop: Shop) -> None:
    shop.sell(1)
    content = Path("orders.db").read_bytes()
    Path("orders.db").write_bytes(b"this is no database" * 100)
    back = threading.Timer(0.8, lambda: Path("orders.db").write_bytes(content))
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
    move_orders()
    report = place.load(items(3), code=1)
    assert "hides 1 ordered items" in report["error"]
    assert "--without-orders" in report["error"]
    assert place.indices() == [old]
    assert bound_in(place, old) == [1]
    assert not Path("orders.db").exists()
    assert place.load(items(3), "--without-orders")["swapped"] is True


def test_an_upsert_in_another_folder_does_not_offer_what_is_sold(place: Place, shop: Shop) -> None:
    shop.sell(1)
    index = place.load(items(3))["index"]
    move_orders()
    assert upsert(place, [changed_item(number, "new") for number in (1, 2)])["written"] == 2
    place.client.indices.refresh(index=index)
    assert bound_in(place, index) == [1]
    assert not Path("orders.db").exists()


def move_orders() -> None:
    """Moves the orders' database where no command finds it."""
    Path("orders.db").rename("elsewhere.db")
    for file in Path().glob("orders.db-*"):
        file.unlink()
