"""The item of a listing as responses show it, put together from what the listing and its product store. Pure.

A listing stores what is its own, and names shared documents by the hash of their content: its product, which has the
name, the picture and the details, and those of its attachments and of a long description.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from mappings.fields import DETAILS

_SEPARATOR: Final = b"\n"  # JSON that is written without blanks has none
_encode = msgspec.json.Encoder().encode


class Attached(Struct, gc=False):
    """Something on an item: the key of its shared document, and what is its own."""

    key: str = msgspec.field(name="part")
    id: int | None = None
    wear: float | None = None


class Listing(Struct, gc=False):
    """What a document of the index of listings has for responses."""

    id: int = 0
    product: str = ""
    price: int | None = None  # in minor units
    inspect_link: str | None = msgspec.field(default=None, name="inspectLink")
    description: str | None = None
    description_key: str | None = msgspec.field(default=None, name="descriptionPart")
    wear: float | None = msgspec.field(default=None, name="float")
    seed: int | None = None
    paint_index: int | None = msgspec.field(default=None, name="paintIndex")
    pattern: int | None = None
    attached: list[Attached] = []

    def shared_keys(self) -> Iterator[str]:
        """The keys of the shared documents that its item is put together from."""
        yield self.product
        if self.description_key is not None:
            yield self.description_key
        for attached in self.attached:
            yield attached.key


class _Shape(Struct, rename="camel", gc=False):
    """Keys in the order of responses."""


class _Paint(_Shape):
    wear: float | None = msgspec.field(name="float")
    seed: int | None
    index: int | None
    pattern: int | None


class _Attachment(_Shape):
    id: int | None
    name: Raw
    wear: float | None
    type: Raw
    image: Raw


class _Item(_Shape):
    id: int
    name: Raw
    price: float | None
    image: Raw
    inspect_link: str | None
    description: Raw | str | None
    details: Raw
    paint: _Paint
    attachments: list[_Attachment]


def display_json(document: Mapping[str, Any]) -> bytes:
    """What responses show of a shared document: pieces of JSON, in one string to be small.

    Raises KeyError for any other document.
    """
    content = document.get("part")  # of an attachment or a description
    if isinstance(content, str):
        return _encode(content)
    if isinstance(content, dict):
        return _joined(content.get(name) for name in ("name", "type", "image"))
    details = {name: document.get(name) for name in DETAILS}
    return _joined((document["name"], document.get("image"), details, document["minorDigits"]))


def item_of(listing: Listing, shared: Mapping[str, bytes]) -> bytes:
    """The item as JSON, byte for byte as it was loaded; `shared` has the display JSON of each of its `shared_keys`.

    Raises KeyError where it lacks one, ValueError where one is of another kind.
    """
    name, image, details, digits = shared[listing.product].split(_SEPARATOR)
    item = _Item(
        listing.id,
        Raw(name),
        # the double nearest to the decimal, as the price was read
        None if listing.price is None else listing.price / 10 ** int(digits),
        Raw(image),
        listing.inspect_link,
        listing.description if listing.description_key is None else Raw(shared[listing.description_key]),
        Raw(details),
        _Paint(listing.wear, listing.seed, listing.paint_index, listing.pattern),
        [_attachment(attached, shared[attached.key]) for attached in listing.attached],
    )
    return _encode(item)


def _attachment(attached: Attached, display: bytes) -> _Attachment:
    name, kind, image = display.split(_SEPARATOR)
    return _Attachment(attached.id, Raw(name), attached.wear, Raw(kind), Raw(image))


def _joined(values: Any) -> bytes:
    return _SEPARATOR.join(_encode(value) for value in values)
