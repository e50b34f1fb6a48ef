"""The checked item: one item's JSON text, or its checked values, in; what the index keeps and searches of it out. Pure.

The rules are those of `LoadedItem`, said once more for a decoder that is many times faster. It never has the last word
on a refusal: what it does not take is given to `LoadedItem`, which takes it after all or names every fault.
"""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from indexer.documents.timestamps import nanoseconds
from mappings.item import LEAST_INTEGER, MOST_ATTACHMENTS, MOST_INTEGER

Integer = Annotated[int, Meta(ge=LEAST_INTEGER, le=MOST_INTEGER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Word = Annotated[str, Meta(min_length=1, max_length=256)]
Address = Annotated[str, Meta(min_length=1, max_length=2048)]

# The only way to write the one character that no text may have: JSON does not allow it as it is.
_NUL = rb"\u0000"
_ESCAPE = b"\\"  # which one byte is found sooner, and most items have none


class _Shape(Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """Keys as answers have them, in their order. Nothing of an item refers to itself: the collector need not look."""


class CheckedDetails(_Shape, kw_only=True):
    """What the item is."""

    type: Word | None = None
    weapon: Word | None = None
    set: Word | None = None
    quality: Word | None = None
    rarity: Word | None = None
    exterior: Word | None = None
    phase: Word | None = None
    tournament: Word | None = None
    color: Word | None = None


class CheckedPaint(_Shape, kw_only=True):
    """How its finish was applied."""

    wear: Share | None = field(default=None, name="float")
    seed: Integer | None = None
    index: Integer | None = None
    pattern: Integer | None = None


class CheckedAttachment(_Shape, kw_only=True):
    """What is on it."""

    id: Integer | None = None
    name: Word
    wear: Share | None = None
    type: Word | None = None
    image: Address | None = None


class _WrittenItem(_Shape, kw_only=True):
    """An item as a source writes it; without `listedAt`, and with all its parts, it is the answer."""

    id: Integer
    name: Annotated[str, Meta(min_length=1, max_length=512)]
    price: Annotated[float, Meta(ge=0, le=10**12)] | None = None
    image: Address | None = None
    inspect_link: Address | None = None
    description: Annotated[str, Meta(max_length=10_000)] | None = None
    details: CheckedDetails | None = None
    paint: CheckedPaint | None = None
    attachments: Annotated[list[CheckedAttachment], Meta(max_length=MOST_ATTACHMENTS)] | None = None
    listed_at: str | UnsetType | None = UNSET


class CheckedItem(Struct, frozen=True, gc=False):
    """A valid item: the JSON that answers show, and of its values those that the index has fields for."""

    answer: bytes
    id: int
    name: str
    price: float | None
    details: CheckedDetails
    paint: CheckedPaint
    attachments: list[CheckedAttachment]
    listed_at: int | None  # nanoseconds from 1970


_decode = msgspec.json.Decoder(_WrittenItem).decode
_encode = msgspec.json.Encoder().encode


def decoded(text: bytes) -> CheckedItem:
    """The item; raises ValueError where this decoder does not take it, which need not mean that it is invalid."""
    if _ESCAPE in text and _NUL in text:
        message = "may have a NUL character"
        raise ValueError(message)
    written = _decode(text)
    listed = written.listed_at
    return _checked(written, nanoseconds(listed) if isinstance(listed, str) else None)


def from_valid(values: dict[str, Any], listed_at: int | None) -> CheckedItem:
    """The item of values that `LoadedItem` has found valid, named as answers name them."""
    return _checked(msgspec.convert(values, _WrittenItem), listed_at)


def _checked(written: _WrittenItem, listed_at: int | None) -> CheckedItem:
    details, paint, attachments = written.details, written.paint, written.attachments
    if details is None:
        details = written.details = CheckedDetails()
    if paint is None:
        paint = written.paint = CheckedPaint()
    if attachments is None:
        attachments = written.attachments = []
    written.listed_at = UNSET
    return CheckedItem(
        _encode(written), written.id, written.name, written.price, details, paint, attachments, listed_at
    )
