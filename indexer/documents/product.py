"""The products of items: what listings are of, with all that texts are matched with. Pure.

A product is what it says: its key is a hash of its content, so the same product has the same key in every load and
from every writer, and never changes. A name of a sticker on items is a document beside the products, since items are
found by the stickers on them as well. So are what listings say of their attachments, and long descriptions: many
listings say the same.
"""

from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import orjson

from mappings.fields import DETAILS

FIELDS: Final = ("platform", "minorDigits", "name", *DETAILS, "finish", "image")
"""The fields of an index document that are its product's."""
CACHED_NAMES: Final = 32_768
"""A catalogue has many listings of one name. Half a kilobyte each: 16 MB at most."""
KEY_BYTES: Final = 12
"""16 characters. Any two of 100 million products have one key with a chance of 6 in 10^14 (96 bits, birthday bound)."""


class KeyedDocument(NamedTuple):
    """A document that is written to an index of products: its key, and its content as JSON."""

    key: str
    content: bytes

    def __str__(self) -> str:
        return f"the product {self.content.decode()}"


def product_of(document: Mapping[str, Any]) -> KeyedDocument:
    key = product_key(document)
    fields = {name: document[name] for name in FIELDS if document.get(name) is not None}
    return KeyedDocument(key, _exact(orjson.dumps({"product": key, **fields})))


def product_key(document: Mapping[str, Any]) -> str:
    return _key(b"product", [document.get(name) for name in FIELDS])


def sticker_of(platform: int, name: str) -> KeyedDocument:
    """The document of the name of a sticker on items of a platform."""
    return KeyedDocument(sticker_key(platform, name), _exact(orjson.dumps({"platform": platform, "stickers": name})))


@lru_cache(CACHED_NAMES)
def sticker_key(platform: int, name: str) -> str:
    return _key(b"sticker", (platform, name))


@lru_cache(CACHED_NAMES)
def attachment_document(name: str, kind: str | None, image: str | None) -> KeyedDocument:
    """The document of what responses show of an attachment, on whatever item it is."""
    return _shared_document(b"attachment", {"name": name, "type": kind, "image": image})


def description_document(text: str) -> KeyedDocument:
    return _shared_document(b"description", text)


def is_as_written(key: str, stored: Mapping[str, Any]) -> bool:
    """Whether a stored document is what its key is a hash of, and says nothing else."""
    try:
        written = _written(stored)
    except (KeyError, TypeError):  # nobody writes such values
        return False
    return written.key == key and orjson.loads(written.content) == stored


def _written(stored: Mapping[str, Any]) -> KeyedDocument:
    """The document that is written for what a stored one says."""
    if "part" in stored:
        shown = stored["part"]
        if isinstance(shown, str):
            return description_document(shown)
        return attachment_document(shown["name"], shown["type"], shown["image"])
    if "stickers" in stored:
        return sticker_of(stored["platform"], stored["stickers"])
    return product_of(stored)


def _shared_document(kind: bytes, shown: dict[str, str | None] | str) -> KeyedDocument:
    content = _exact(orjson.dumps({"part": shown}))
    return KeyedDocument(_hash(kind, content), content)


def _exact(content: bytes) -> bytes:
    """The same in as many bytes as it has: the encoder's own take 4,096, however few they are."""
    return bytes(memoryview(content))


def _key(kind: bytes, values: Sequence[str | int | None]) -> str:
    return _hash(kind, orjson.dumps(values))


def _hash(kind: bytes, content: bytes) -> str:
    digest = blake2b(content, digest_size=KEY_BYTES, person=kind).digest()
    return urlsafe_b64encode(digest).decode()
