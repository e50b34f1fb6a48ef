"""The product of an item: its content and the key that is made of it."""

from typing import Any

import orjson
import pytest

from indexer.documents.checked_item import checked_item
from indexer.documents.document import index_document
from indexer.documents.product import (
    FIELDS,
    KeyedDocument,
    attachment_document,
    description_document,
    is_as_written,
    product_of,
    sticker_key,
    sticker_of,
)
from mappings.platforms import read_platforms

(CS2,) = read_platforms()
RIFLE: dict[str, Any] = {
    "id": 1,
    "name": "AK-47 | Redline (Field-Tested)",
    "price": 21.4,
    "image": "https://example.com/redline.png",
    "details": {"weapon": "AK-47", "exterior": "Field-Tested", "rarity": "Classified"},
}


def document(**changed: Any) -> dict[str, Any]:
    return index_document(checked_item({**RIFLE, **changed}), CS2)


def content_of(of: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = orjson.loads(product_of(of).content)
    return content


def test_a_product_has_the_fields_that_texts_are_matched_with() -> None:
    assert content_of(document()) == {
        "product": document()["product"],
        "platform": 730,
        "minorDigits": 2,
        "name": "AK-47 | Redline (Field-Tested)",
        "image": "https://example.com/redline.png",
        "weapon": "AK-47",
        "exterior": "Field-Tested",
        "rarity": "Classified",
        "finish": "Redline",
    }


def test_a_part_has_what_answers_show_and_a_key_of_its_content() -> None:
    crown = attachment_document("Sticker | Crown (Foil)", "sticker", None)
    assert orjson.loads(crown.content) == {"part": {"name": "Sticker | Crown (Foil)", "type": "sticker", "image": None}}
    others = [attachment_document("Sticker | Crown (Foil)", None, None), description_document("Sticker | Crown (Foil)")]
    assert len({crown.key, *(other.key for other in others), sticker_key(730, "Sticker | Crown (Foil)")}) == 4
    assert orjson.loads(description_document("long").content) == {"part": "long"}


def test_a_message_names_a_product_by_what_it_says() -> None:
    assert str(description_document("long")) == 'the product {"part":"long"}'


def test_items_that_differ_only_as_listings_are_of_one_product() -> None:
    other = document(
        id=2,
        price=None,
        description="x",
        paint={"float": 0.2, "seed": 3},
        attachments=[{"name": "Sticker | Crown (Foil)"}],
        listedAt="2026-01-01T00:00:00Z",
    )
    assert other["product"] == document()["product"] == product_of(other).key
    assert product_of(other) == product_of(document())


@pytest.mark.parametrize("name", FIELDS)
def test_a_product_is_another_one_where_any_of_its_fields_differs(name: str) -> None:
    changed = {**document(), name: 440 if name == "platform" else "other"}
    assert product_of(changed).key != product_of(document()).key


def test_a_value_counts_in_its_own_field() -> None:
    with_set, with_color = document(details={"set": "x"}), document(details={"color": "x"})
    assert with_set["product"] != with_color["product"]


def test_keys_are_the_same_for_ever() -> None:
    """Listings that are there name them: whoever changes how they are made changes the definition as well."""
    keys = [document()["product"], sticker_key(730, "Sticker | Crown (Foil)"), sticker_key(440, "龍王 (Ōni™)")]
    assert keys == ["G6EJtFT2JiA4tCIO", "uWGWIA8q-DogbD3O", "OO4sI5ANDSS3XE-g"]
    assert all(len(key) == 16 for key in keys)


def test_a_name_of_a_sticker_is_a_document_of_its_own() -> None:
    name = "Sticker | Crown (Foil)"
    sticker = sticker_of(730, name)
    assert sticker.key == sticker_key(730, name) != sticker_key(440, name)
    assert orjson.loads(sticker.content) == {"platform": 730, "stickers": name}
    assert sticker.key != product_of({"platform": 730, "name": name}).key


PRODUCT = product_of(document())
BARE = product_of(document(image=None, details={}))
STICKER = sticker_of(730, "Sticker | Crown (Foil)")
ATTACHMENT = attachment_document("Sticker | 龍王 (Ōni™)", None, "https://example.com/oni.png")
DESCRIPTION = description_document("long\n" * 99)


@pytest.mark.parametrize("written", [PRODUCT, BARE, STICKER, ATTACHMENT, DESCRIPTION])
def test_what_was_written_is_known_by_its_key_alone(written: KeyedDocument) -> None:
    stored = orjson.loads(written.content)
    assert is_as_written(written.key, stored)
    assert is_as_written(written.key, dict(reversed(stored.items()))), "the order of the fields says nothing"
    assert not is_as_written(sticker_key(730, "another"), stored)


@pytest.mark.parametrize("name", FIELDS)
def test_a_stored_product_is_altered_where_any_of_its_fields_differs_or_is_gone(name: str) -> None:
    stored = content_of({**document(), name: 2 if name in ("platform", "minorDigits") else "as written"})
    key = stored["product"]
    assert is_as_written(key, stored)
    assert not is_as_written(key, {**stored, name: 440 if name in ("platform", "minorDigits") else "other"})
    assert not is_as_written(key, {field: value for field, value in stored.items() if field != name})


@pytest.mark.parametrize(
    ("written", "changes"),
    [
        (PRODUCT, {"product": STICKER.key}),
        (PRODUCT, {"text": "found by this as well"}),
        (PRODUCT, {"stickers": "found by this as well"}),
        (PRODUCT, {"part": "something else"}),
        (PRODUCT, {"color": None}),
        (PRODUCT, {"minorDigits": 2.0}),
        (PRODUCT, {"name": 10**30}),
        (STICKER, {"stickers": ["Sticker | Crown (Foil)"]}),
        (STICKER, {"platform": 440}),
        (STICKER, {"name": "found by this as well"}),
        (ATTACHMENT, {"part": {"name": "Sticker | 龍王 (Ōni™)", "type": None}}),
        (ATTACHMENT, {"part": {**orjson.loads(ATTACHMENT.content)["part"], "image": None}}),
        (ATTACHMENT, {"part": {**orjson.loads(ATTACHMENT.content)["part"], "name": ["x"]}}),
        (DESCRIPTION, {"part": "other"}),
        (DESCRIPTION, {"part": None}),
    ],
)
def test_a_stored_document_that_says_anything_else_is_altered(written: KeyedDocument, changes: dict[str, Any]) -> None:
    assert not is_as_written(written.key, {**orjson.loads(written.content), **changes})
