"""A listing and its product give back the item that was loaded, byte for byte."""

from typing import Any

import msgspec
import orjson
from hypothesis import given
from hypothesis import strategies as st

from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import MIN_SHARED_CHARACTERS, NOT_IN_LISTING, index_document
from indexer.documents.product import product_of
from indexer.documents.refusal import ItemRefusedError
from mappings.definition import read_definition
from mappings.items.listing import Listing, display_json, item_of
from mappings.platforms import Platform
from tests.support.indexer.drawn_items import ITEMS
from tests.support.platforms import shared_platforms

CS2 = next(iter(shared_platforms()))
YEN = Platform(id=3, slug="yen", name="Yen", currency="JPY", minor_digits=0)


def stored(item: dict[str, Any], platform: Platform) -> tuple[Listing, dict[str, bytes], bytes]:
    """The listing of an item, the display JSON of its shared documents by key, and the item as it was loaded."""
    checked = checked_item(orjson.dumps(item))
    document = index_document(checked, platform)
    listing = msgspec.json.decode(b"".join(encode_document(document, 1).pieces), type=Listing)
    documents = [product_of(document), *document["shared"]]
    return listing, {each.key: display_json(orjson.loads(each.content)) for each in documents}, checked.response


@given(ITEMS, st.sampled_from([CS2, YEN]))
def test_an_item_is_given_back_as_it_was_loaded(item: dict[str, Any], platform: Platform) -> None:
    try:
        listing, shared, loaded = stored(item, platform)
    except ItemRefusedError:
        return
    assert item_of(listing, shared) == loaded
    assert set(listing.shared_keys()) == shared.keys(), "each document is asked for, and no other"


def test_a_long_description_stands_once() -> None:
    items = [{"id": number, "name": "x", "description": "y" * MIN_SHARED_CHARACTERS} for number in (1, 2)]
    (first, shared, _), (second, others, _) = (stored(item, CS2) for item in items)
    assert (first.description, first.description_key) == (None, second.description_key)
    assert shared == others
    assert set(first.shared_keys()) == shared.keys()
    short = stored({"id": 3, "name": "x", "description": "y" * (MIN_SHARED_CHARACTERS - 1)}, CS2)[0]
    assert (short.description, short.description_key) == ("y" * (MIN_SHARED_CHARACTERS - 1), None)


def test_a_listing_stores_nothing_that_its_index_has_no_field_for() -> None:
    document = index_document(checked_item(b'{"id": 1, "name": "x", "image": "y", "description": "z"}'), CS2)
    fields = read_definition().body["mappings"]["properties"].keys()
    assert document.keys() - fields == set(NOT_IN_LISTING)


def test_a_detail_is_stored_with_single_blanks() -> None:
    document = index_document(checked_item(b'{"id": 1, "name": "x", "details": {"weapon": "AK  47"}}'), CS2)
    assert orjson.loads(b"".join(encode_document(document, 1).pieces))["weapon"] == "AK 47"
