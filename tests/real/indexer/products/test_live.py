"""Live changes bring their products along: no item can be found before its product can, whatever fails between."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from indexer.documents.checked_item import item_from_values
from indexer.documents.document import index_document
from indexer.documents.product import product_of
from indexer.engine.bulk import AliasGoneError, BulkSender
from indexer.engine.retry import RetriesExhaustedError, RetryPolicy
from indexer.live.change import upsert_of
from indexer.live.writer import LiveWriter
from indexer.products.missing import named_products
from indexer.products.writer import ProductWriter
from mappings.connection import SearchSettings, connect
from mappings.definition import read_definition
from mappings.names import generation_name, products_of
from mappings.platforms import read_platforms
from tests.support.indexer.fixtures import Place, items, lines
from tests.support.indexer.generation import (
    create_generation,
    found_by_text,
    products_among,
    products_in,
    put_products,
    swap,
)
from tests.support.indexer.loaders import loader_half_way
from tests.support.indexer.wire import CUT, Fault, Wire, is_bulk, pass_all

(CS2,) = read_platforms()
RETRY = RetryPolicy(10)
STICKER = "Sticker | Crown (Foil)"


def an_item(number: int, name: str = "AWP | Neo-Noir (Minimal Wear)", **details: str) -> dict[str, Any]:
    return {"id": number, "name": name, "price": 1, "details": details, "attachments": [{"name": STICKER}]}


def keys(*found: dict[str, Any]) -> set[str]:
    """The ids of the products of items, and of the names of the stickers on them."""
    return {product.key for product in products_among(index_document(item_from_values(item), CS2) for item in found)}


def upsert(place: Place, *changed: dict[str, Any], code: int = 0) -> dict[str, Any]:
    return place.json("upsert", "-", "--platform", "730", "--quiet", stdin=lines(list(changed)), code=code)


def is_complete(place: Place) -> bool:
    """Whether every product that items name is there."""
    serving = place.json("status", "--platform", "730")["serving"]
    return named_products(place.client, serving, 730, RETRY).complete


@pytest.fixture
def loaded(place: Place) -> Place:
    """A generation whose products are visible only where somebody refreshes them."""
    index = place.load(items(2))["index"]
    place.client.indices.put_settings(index=products_of(index), body={"index": {"refresh_interval": "-1"}})
    return place


def test_a_new_product_can_be_found_as_soon_as_its_item_can(loaded: Place) -> None:
    upsert(loaded, an_item(9))
    loaded.client.indices.refresh(index=loaded.alias)  # of the listings alone
    assert found_by_text(loaded.client, loaded.alias, "noir awp") == [9]
    assert keys(an_item(9)) <= products_in(loaded.client, loaded.alias)


def test_a_product_is_written_and_refreshed_before_its_listing_is_sent(loaded: Place, wire: Wire) -> None:
    requests: list[str] = []

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if is_bulk(path) or "/_refresh" in path:
            requests.append(path.partition("?")[0])
        return None

    wire.rule = rule
    index = upsert(loaded, an_item(9), an_item(10))["indices"][0]
    products, listings = f"/{products_of(loaded.alias)}/_bulk", f"/{loaded.alias}/_bulk"
    assert requests[:3] == [products, f"/{products_of(index)}/_refresh", listings]


def test_two_writers_of_a_new_product_at_once_have_it_once_and_both_items_are_found(loaded: Place) -> None:
    rounds, writers = 20, 4
    start = threading.Barrier(writers)
    shared = LiveWriter(loaded.client, loaded.alias, read_definition(), None, RETRY)
    own = [LiveWriter(loaded.client, loaded.alias, read_definition(), None, RETRY) for _ in range(2)]

    def write(place: int, writer: LiveWriter) -> None:
        for number in range(rounds):
            start.wait(30)
            writer.write([upsert_of(an_item(100 + number * writers + place, f"New thing {number}"), CS2)])
            loaded.client.indices.refresh(index=loaded.alias)
            ids = found_by_text(loaded.client, loaded.alias, f"new thing {number}")
            assert 100 + number * writers + place in ids

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers), [shared, shared, *own]))
    assert products_in(loaded.client, loaded.alias) == keys(
        *items(2), *(an_item(0, f"New thing {number}") for number in range(rounds))
    )


CRASHES: dict[str, Callable[[str], bool]] = {
    "before the product": lambda path: is_bulk(path) and "-products" in path,
    "before the refresh": lambda path: "-products/_refresh" in path,
    "before the listing": lambda path: is_bulk(path) and "-products" not in path,
}


@pytest.mark.parametrize("point", CRASHES)
def test_a_writer_that_dies_between_the_two_writes_leaves_nothing_that_is_half_there(
    loaded: Place, wire: Wire, point: str
) -> None:
    def rule(method: str, path: str, body: bytes) -> Fault | None:
        return CUT if CRASHES[point](path) else None

    wire.rule = rule
    with closing(connect(SearchSettings(opensearch_url=wire.url))) as client:
        writer = LiveWriter(client, loaded.alias, read_definition(), None, RetryPolicy(0.2))
        with pytest.raises(RetriesExhaustedError):
            writer.write([upsert_of(an_item(9), CS2)])
    wire.rule = pass_all
    loaded.client.indices.refresh(index=f"{loaded.alias},{products_of(loaded.alias)}")
    assert loaded.served() == [1, 2]
    assert found_by_text(loaded.client, loaded.alias, "neo noir") == [], "a product without items is no item"
    assert is_complete(loaded)
    upsert(loaded, an_item(9))
    loaded.client.indices.refresh(index=loaded.alias)
    assert found_by_text(loaded.client, loaded.alias, "neo noir") == [9]


def test_a_product_stays_when_its_last_item_goes_and_the_next_load_leaves_it_out(loaded: Place) -> None:
    upsert(loaded, an_item(9))
    loaded.json("delete", "9", "--platform", "730", "--quiet")
    loaded.client.indices.refresh(index=loaded.alias)
    assert found_by_text(loaded.client, loaded.alias, "neo noir") == []
    assert keys(an_item(9)) <= products_in(loaded.client, loaded.alias), "another item of it may come any moment"
    named = named_products(loaded.client, loaded.json("status", "--platform", "730")["serving"], 730, RETRY)
    assert (named.complete, named.unused) == (True, len(keys(an_item(9))))
    upsert(loaded, an_item(10))
    loaded.client.indices.refresh(index=loaded.alias)
    assert found_by_text(loaded.client, loaded.alias, "neo noir") == [10]
    loaded.load(items(2))
    assert products_in(loaded.client, loaded.alias) == keys(*items(2))


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


def test_changes_during_a_load_reach_both_generations_with_their_products(
    place: Place, wire: Wire, opensearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.load(items(2))
    with loader_half_way(place, wire) as (process, end):
        monkeypatch.setenv("GEAR_OPENSEARCH_URL", opensearch_url)  # past the wire, at which the load hangs
        indices = upsert(place, an_item(9))["indices"]
        assert len(indices) == 2
        for index in indices:
            assert keys(an_item(9)) <= products_in(place.client, index)
        end.set()
        wire.rule = pass_all
        assert process.wait(60) == 0
    serving = place.json("status", "--platform", "730")["serving"]
    assert serving in indices
    assert found_by_text(place.client, place.alias, "neo noir") == [9]
    assert is_complete(place)


def test_products_that_went_to_the_next_generation_are_not_taken_as_written(place: Place) -> None:
    first = place.load(items(1))["index"]
    sender = BulkSender(place.client, RETRY, names_index=True)
    writer = ProductWriter(place.client, first, place.alias, sender, RETRY)
    document = index_document(item_from_values(an_item(9)), CS2)
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
    put_products(place.client, index, [index_document(item_from_values(item), CS2) for item in items(1)])
    writer.write([upsert_of(an_item(10), CS2)])
    place.client.indices.refresh(index=place.alias)
    assert found_by_text(place.client, place.alias, "neo noir") == [9, 10]
    assert is_complete(place)


@pytest.mark.parametrize("point", ["_bulk", "_refresh"])
@pytest.mark.parametrize("end", ["swapped", "removed"])
def test_an_index_that_is_swapped_or_removed_under_a_write_is_looked_up_again(
    place: Place, wire: Wire, end: str, point: str
) -> None:
    """The load ends, well or not, before the products go to what it fills, or before they are refreshed."""
    place.load(items(1))
    loading = generation_name(place.alias, datetime.now(UTC), read_definition().fingerprint)
    create_generation(place.client, loading, f"{loading}-loading")
    meta = {"_meta": {**read_definition().meta(), "version": 1}}
    place.client.indices.put_mapping(index=loading, body=meta)
    wire.rule = _once(lambda path: "-products/" in path and point in path, lambda: _end(place, loading, end))
    assert upsert(place, an_item(9))["written"] == 1
    place.client.indices.refresh(index=place.alias)
    assert found_by_text(place.client, place.alias, "neo noir") == [9]
    assert is_complete(place)
    assert (place.json("status", "--platform", "730")["serving"] == loading) is (end == "swapped")


def _once(matches: Callable[[str], bool], act: Callable[[], None]) -> Callable[[str, str, bytes], Fault | None]:
    count = itertools.count()

    def rule(method: str, path: str, body: bytes) -> Fault | None:
        if matches(path) and next(count) == 0:
            act()
        return None

    return rule


def _end(place: Place, loading: str, end: str) -> None:
    if end == "swapped":
        swap(place.client, place.alias, loading)
    else:
        place.client.indices.delete(index=f"{loading},{products_of(loading)}")


def test_without_their_products_items_are_not_written_and_the_error_says_what_helps(place: Place) -> None:
    index = place.load(items(2))["index"]
    place.client.indices.delete(index=products_of(index))
    report = upsert(place, an_item(9), code=1)
    assert f"the products of {index} are missing" in report["error"]
    assert "gear-indexer doctor" in report["error"]
    place.json("delete", "1", "--platform", "730", "--quiet")
    place.client.indices.refresh(index=place.alias)
    assert place.served() == [2], "a delete needs no products"
