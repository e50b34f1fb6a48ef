"""Integrity: what the writer stored passes, however the engine writes its numbers; what was changed since does not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.engine.documents import StoredListing
from api.engine.responses import StoredItem
from api.orders.placing.integrity import integrity_problem, is_too_old
from indexer.documents.checked_item import checked_item
from indexer.documents.digest import encode_document
from indexer.documents.document import index_document
from indexer.documents.product import product_of
from mappings.items.listing import display_json, item_of
from mappings.platforms import read_platforms

CS2 = next(iter(read_platforms()))
KEY, OTHER = b"k" * 32, b"o" * 32
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def stored_item(
    item: dict[str, Any], price: int | None, listed_at: int | None = None, digest: dict[str, int] | None = None
) -> StoredItem:
    """A document of the index, as the engine's client reads it."""
    return StoredItem(
        item=item, price=price, listed_at=listed_at, digest=digest, bound=False, version=None, loaded_at=None
    )


def indexed(key: bytes, **fields: Any) -> StoredItem:
    values = {"id": 7, "name": "AK-47 | Redline (Field-Tested)", "price": 21.4, **fields}
    document = index_document(checked_item(values), CS2)
    listing = msgspec.json.decode(b"".join(encode_document(document, 1, key).pieces), type=StoredListing)
    shared = {document["product"]: display_json(orjson.loads(product_of(document).content))}
    item = orjson.loads(item_of(listing, shared))
    return stored_item(item, listing.price, listing.listed_at, listing.digest)


def problem(stored: StoredItem, key: bytes) -> str | None:
    return integrity_problem(stored, CS2.id, CS2.minor_digits, key)


@given(
    st.sampled_from([b"", KEY]),
    st.none() | st.integers(0, 10**14).map(lambda minor: minor / 100),
    st.none() | st.floats(0, 1),
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=50),
)
def test_what_was_loaded_passes(key: bytes, price: float | None, wear: float | None, name: str) -> None:
    stored = indexed(key, price=price, name=name, paint={"float": wear}, listedAt="2026-03-01T12:00:00Z")
    assert problem(stored, key) is None


@pytest.mark.parametrize("digits", [0, 1])
def test_a_platform_with_other_minor_units_than_at_the_load_is_noticed_without_a_key(digits: int) -> None:
    assert integrity_problem(indexed(b""), CS2.id, digits, b"") == "price"
    assert integrity_problem(indexed(b"", price=None), CS2.id, digits, b"") is None


def test_a_changed_price_is_noticed_by_the_digest() -> None:
    stored = indexed(KEY)
    changed = stored_item({**stored.item, "price": 0.01}, 1, digest=stored.digest)
    assert problem(changed, KEY) == "digest"
    assert problem(stored_item(stored.item, 2140, 5, stored.digest), KEY) == "digest"


@pytest.mark.parametrize("signed_with", [b"", OTHER])
def test_a_digest_made_without_the_key_is_refused(signed_with: bytes) -> None:
    assert problem(indexed(signed_with), KEY) == "digest"


def test_an_item_without_a_digest_passes_only_without_a_key() -> None:
    stored = indexed(b"")
    assert problem(stored_item(stored.item, 2140), b"") is None
    assert problem(stored_item(stored.item, 2140), KEY) == "digest"


@pytest.mark.parametrize(
    ("loaded", "changed", "too_old"),
    [(None, None, True), (2, None, True), (1, None, False), (2, 2, True), (2, 1, False), (1, 2, False)],
)
def test_the_younger_of_load_and_change_counts(loaded: int | None, changed: int | None, too_old: bool) -> None:
    loaded_at = None if loaded is None else NOW - timedelta(days=loaded)
    changed_at = None if changed is None else (NOW - timedelta(days=changed)).timestamp() * 10**6
    is_old = is_too_old(loaded_at, None if changed_at is None else round(changed_at), NOW, timedelta(days=1, hours=12))
    assert is_old is too_old
