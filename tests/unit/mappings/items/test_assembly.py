"""Items are put together from cached and read documents; what is of no use for it is one error."""

from typing import Any

import orjson
import pytest

from mappings.items.assembly import MAX_KEYS, LacksProductError, SharedDocuments, Target, items_of
from mappings.items.listing import Attached, Listing

PRODUCT = {"name": "Grue", "minorDigits": 2}
PRODUCTS = "gear-730-20260101000000000-01234567-products"
INDEX = PRODUCTS.removesuffix("-products")
ROOM = 2**20


def test_what_is_not_cached_is_asked_for_once() -> None:
    documents = SharedDocuments(ROOM)
    listings = [(INDEX, Listing(number, product)) for number, product in enumerate("aba")]
    shared, requests = documents.of_listings(listings)
    (targets,) = requests
    assert (shared, targets) == ({}, [{"_index": PRODUCTS, "_id": "a"}, {"_index": PRODUCTS, "_id": "b"}])
    for target in targets:
        shared[target["_id"]] = documents.add(PRODUCTS, target["_id"], PRODUCT)
    items = items_of(listings, shared)
    assert [orjson.loads(item)["name"] for item in items] == ["Grue"] * 3
    assert items_of(listings, documents.cached) == items
    shared, requests = documents.of_listings(listings)
    assert (set(shared), [*requests]) == ({"a", "b"}, list[list[Target]]())


def test_a_request_is_of_a_bounded_size() -> None:
    listings = [(INDEX, Listing(number, str(number))) for number in range(MAX_KEYS + 1)]
    _, requests = SharedDocuments(ROOM).of_listings(listings)
    assert [len(targets) for targets in requests] == [MAX_KEYS, 1]


def test_the_cache_counts_what_an_entry_takes_besides_its_text() -> None:
    documents = SharedDocuments(1_000)
    display = documents.add(PRODUCTS, "a", PRODUCT)
    assert len(display) < 250 < documents.cached.currsize
    for key in "bcd":
        documents.add(PRODUCTS, key, PRODUCT)
    assert set(documents.cached) < set("abcd")
    assert "d" in documents.cached


def test_a_document_that_is_larger_than_the_cache_is_used_all_the_same() -> None:
    documents = SharedDocuments(1_000)
    assert documents.add(PRODUCTS, "a", {"part": "x" * 1_000}) == orjson.dumps("x" * 1_000)
    assert not documents.cached


def test_a_cache_has_room_until_some_hundred_documents_would_evict_others() -> None:
    documents = SharedDocuments(ROOM)
    assert documents.has_room
    documents.add(PRODUCTS, "a", {"part": "x" * (ROOM - 2**17)})
    assert not documents.has_room


def put_together(listing: Listing, products: dict[str, dict[str, Any] | None]) -> bytes:
    documents = SharedDocuments(ROOM)
    shared, _ = documents.of_listings([(INDEX, listing)])
    shared |= {key: documents.add(PRODUCTS, key, document) for key, document in products.items()}
    (item,) = items_of([(INDEX, listing)], shared)
    return item


@pytest.mark.parametrize(
    ("listing", "document"),
    [
        (Listing(1, ""), PRODUCT),
        (Listing(1, "a"), None),
        (Listing(1, "a"), {"platform": 730, "stickers": "Crown"}),
        (Listing(1, "a"), {"part": 5}),
        (Listing(1, "a"), {"part": "a description"}),
        (Listing(1, "a"), {"part": {"name": "Crown", "type": None, "image": None}}),
        (Listing(1, "a", 210), {"name": "Grue", "minorDigits": None}),
        (Listing(1, "b", attached=[Attached("a")]), PRODUCT),
        (Listing(1, "never read"), PRODUCT),
    ],
)
def test_what_is_missing_or_of_another_kind_is_one_error(listing: Listing, document: dict[str, Any] | None) -> None:
    with pytest.raises(LacksProductError, match="lacks a product"):
        put_together(listing, {"a": document, "b": PRODUCT})
