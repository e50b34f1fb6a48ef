"""Live changes bring their products along: no item can be found before its product can."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.product import product_of
from indexer.engine.bulk import AliasGoneError, BulkSender
from indexer.live.change import upsert_of
from indexer.live.writer import LiveWriter
from indexer.products.comparison import named_products
from indexer.products.writer import ProductWriter
from mappings.definition import read_definition
from mappings.names import products_of
from tests.support.indexer.fixtures import Place, items
from tests.support.indexer.generation import found_by_text, products_in, put_products
from tests.support.indexer.product_items import CS2, RETRY, an_item, is_complete, keys, upsert


def test_a_new_product_can_be_found_as_soon_as_its_item_can(unrefreshed: Place) -> None:
    upsert(unrefreshed, an_item(9))
    unrefreshed.client.indices.refresh(index=unrefreshed.alias)  # of the listings alone
    assert found_by_text(unrefreshed.client, unrefreshed.alias, "noir awp") == [9]
    assert keys(an_item(9)) <= products_in(unrefreshed.client, unrefreshed.alias)


def test_two_writers_of_a_new_product_at_once_have_it_once_and_both_items_are_found(unrefreshed: Place) -> None:
    rounds, writers = 20, 4
    start = threading.Barrier(writers)
    shared = LiveWriter(unrefreshed.client, unrefreshed.alias, read_definition(), None, RETRY)
    own = [LiveWriter(unrefreshed.client, unrefreshed.alias, read_definition(), None, RETRY) for _ in range(2)]

    def write(place: int, writer: LiveWriter) -> None:
        for number in range(rounds):
            start.wait(30)
            writer.write([upsert_of(an_item(100 + number * writers + place, f"New thing {number}"), CS2)])
            unrefreshed.client.indices.refresh(index=unrefreshed.alias)
            ids = found_by_text(unrefreshed.client, unrefreshed.alias, f"new thing {number}")
            assert 100 + number * writers + place in ids

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers), [shared, shared, *own]))
    assert products_in(unrefreshed.client, unrefreshed.alias) == keys(
        *items(2), *(an_item(0, f"New thing {number}") for number in range(rounds))
    )


def test_a_product_stays_when_its_last_item_goes_and_the_next_load_leaves_it_out(unrefreshed: Place) -> None:
    upsert(unrefreshed, an_item(9))
    unrefreshed.json("delete", "9", "--platform", "730", "--quiet")
    unrefreshed.client.indices.refresh(index=unrefreshed.alias)
    assert found_by_text(unrefreshed.client, unrefreshed.alias, "neo noir") == []
    assert keys(an_item(9)) <= products_in(unrefreshed.client, unrefreshed.alias), (
        "another item of it may come any moment"
    )
    named = named_products(unrefreshed.client, unrefreshed.json("status", "--platform", "730")["serving"], 730, RETRY)
    assert (named.complete, named.unused) == (True, len(keys(an_item(9))))
    upsert(unrefreshed, an_item(10))
    unrefreshed.client.indices.refresh(index=unrefreshed.alias)
    assert found_by_text(unrefreshed.client, unrefreshed.alias, "neo noir") == [10]
    unrefreshed.load(items(2))
    assert products_in(unrefreshed.client, unrefreshed.alias) == keys(*items(2))


def test_items_are_found_by_the_product_that_each_of_them_has(place: Place) -> None:
    """A product never changes: an item of which it says something new is of another product."""
    place.load([an_item(number, type="Rifle", rarity="Covert") for number in (1, 2, 3)])
    upsert(place, an_item(2, type="Sniper", rarity="Contraband"))
    place.client.indices.refresh(index=place.alias)
    assert found_by_text(place.client, place.alias, "noir") == [1, 2, 3]
    assert found_by_text(place.client, place.alias, "noir sniper") == [2]
    assert found_by_text(place.client, place.alias, "noir rifle") == [1, 3]
    by_rarity = {"query": {"term": {"rarity.folded": "Contraband"}}}
    (product,) = place.client.search(index=products_of(place.alias), body=by_rarity)["hits"]["hits"]
    assert {product["_id"]} == keys(an_item(2, type="Sniper", rarity="Contraband")) - keys(an_item(1, type="Rifle"))


def test_products_that_went_to_the_next_generation_are_not_taken_as_written(place: Place) -> None:
    first = place.load(items(1))["index"]
    sender = BulkSender(place.client, RETRY, names_index=True)
    writer = ProductWriter(place.client, first, place.alias, sender, RETRY)
    document = index_document(checked_item(an_item(9)), CS2)
    second = place.load(items(1))["index"]
    for _ in range(2):
        with pytest.raises(AliasGoneError, match="was moved to"):
            writer.write([document])
    place.json("rollback", "--platform", "730")
    assert product_of(document).key not in products_in(place.client, first)
    writer.write([document])
    assert product_of(document).key in products_in(place.client, first)
    assert second != first


def test_products_of_an_index_that_was_restored_are_written_again(place: Place) -> None:
    """A snapshot from before the product: a writer that lives on must not take it for written."""
    index = place.load(items(1))["index"]
    writer = LiveWriter(place.client, place.alias, read_definition(), None, RETRY)
    writer.write([upsert_of(an_item(9), CS2)])
    before = products_of(index)
    place.client.indices.delete(index=before)
    aliases: dict[str, Any] = {products_of(place.alias): {}}
    body = {**read_definition().create_products_body(), "aliases": aliases}
    place.client.indices.create(index=before, body=body)
    put_products(place.client, index, [index_document(checked_item(item), CS2) for item in items(1)])
    writer.write([upsert_of(an_item(10), CS2)])
    place.client.indices.refresh(index=place.alias)
    assert found_by_text(place.client, place.alias, "neo noir") == [9, 10]
    assert is_complete(place)


def test_without_their_products_items_are_not_written_and_the_error_says_what_helps(place: Place) -> None:
    index = place.load(items(2))["index"]
    place.client.indices.delete(index=products_of(index))
    report = upsert(place, an_item(9), code=1)
    assert f"the products of {index} are missing" in report["error"]
    assert "gear-indexer doctor" in report["error"]
    place.json("delete", "1", "--platform", "730", "--quiet")
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [2], "a delete needs no products"
