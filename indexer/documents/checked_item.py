"""Validates one item, given as JSON text or as values, and keeps what the index stores and searches. Pure.

`LoadedItem` defines the rules and words every refusal. `_WrittenItem` repeats the rules for a decoder that is many
times faster and takes nearly every item; whatever it does not take goes to `LoadedItem`, which has the last word.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field
from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from indexer.documents.refusal import ItemRefusedError, Refusal, shortened
from indexer.documents.timestamps import microseconds, nanoseconds
from mappings.items.item import MAX_ATTACHMENTS, MAX_INTEGER, MAX_NAME_CHARACTERS, MIN_INTEGER, GearItem
from mappings.strict_model import plain_reason

Integer = Annotated[int, Meta(ge=MIN_INTEGER, le=MAX_INTEGER)]
Share = Annotated[float, Meta(ge=0, le=1)]
Word = Annotated[str, Meta(min_length=1, max_length=256)]
Address = Annotated[str, Meta(min_length=1, max_length=2048)]

# JSON has no other spelling of NUL, the one character that no text may have.
_NUL = rb"\u0000"
_ESCAPE = b"\\"  # most items have none, and one byte is found sooner


class LoadedItem(GearItem):
    """A gear item as a source gives it: what responses show, when it was listed, and when the source changed it."""

    listed_at: Annotated[int, BeforeValidator(nanoseconds)] | None = None  # nanoseconds since 1970
    changed_at: Annotated[int, BeforeValidator(microseconds)] | None = None  # microseconds since 1970


def json_names(shape: type[BaseModel]) -> tuple[str, ...]:
    """The names of a shape's fields as responses have them, in their order."""
    return tuple(field.alias or name for name, field in shape.model_fields.items())


class _Shape(Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    """Keys are named and ordered as in responses; items hold no cycles, so the garbage collector may skip them."""


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
    """A sticker, charm or the like on the item."""

    id: Integer | None = None
    name: Word
    wear: Share | None = None
    type: Word | None = None
    image: Address | None = None


class _WrittenItem(_Shape, kw_only=True):
    """An item as a source writes it; with every part and without its times it is what responses show."""

    id: Integer
    name: Annotated[str, Meta(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    price: Annotated[float, Meta(ge=0, le=10**12)] | None = None
    image: Address | None = None
    inspect_link: Address | None = None
    description: Annotated[str, Meta(max_length=10_000)] | None = None
    details: CheckedDetails | None = None
    paint: CheckedPaint | None = None
    attachments: Annotated[list[CheckedAttachment], Meta(max_length=MAX_ATTACHMENTS)] | None = None
    listed_at: str | UnsetType | None = UNSET
    changed_at: str | UnsetType | None = UNSET


class CheckedItem(Struct, frozen=True, gc=False):
    """A valid item: the JSON that responses show, and the values that the index has fields for."""

    response: bytes
    id: int
    name: str
    price: float | None
    image: str | None
    inspect_link: str | None
    description: str | None
    details: CheckedDetails
    paint: CheckedPaint
    attachments: list[CheckedAttachment]
    listed_at: int | None  # nanoseconds since 1970
    changed_at: int | None  # microseconds since 1970


_decode = msgspec.json.Decoder(_WrittenItem).decode
_encode = msgspec.json.Encoder().encode


def checked_item(content: bytes | Mapping[str, Any] | ItemRefusedError) -> CheckedItem:
    """Validates what a reader gave; raises ItemRefusedError, also the reader's own."""
    if isinstance(content, ItemRefusedError):
        raise content
    try:
        if not isinstance(content, bytes):
            return _from_loaded(LoadedItem.model_validate(content, by_alias=True, by_name=False))
        try:
            return fast_decoded(content)
        except ValueError:  # nothing is lost: the slower way finds the same refusal, and all others
            return _from_loaded(LoadedItem.model_validate_json(content, by_alias=True, by_name=False))
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        raise ItemRefusedError(tuple(_refusal(detail) for detail in details)) from error


def fast_decoded(text: bytes) -> CheckedItem:
    """The item by the fast decoder alone; its ValueError need not mean that the item is invalid."""
    if _ESCAPE in text and _NUL in text:
        raise ValueError("may have a NUL character")
    written = _decode(text)
    listed, changed = written.listed_at, written.changed_at
    return _checked(
        written,
        nanoseconds(listed) if isinstance(listed, str) else None,
        microseconds(changed) if isinstance(changed, str) else None,
    )


def _from_loaded(item: LoadedItem) -> CheckedItem:
    values = item.model_dump(by_alias=True, exclude={"listed_at", "changed_at"})
    return _checked(msgspec.convert(values, _WrittenItem), item.listed_at, item.changed_at)


def _checked(written: _WrittenItem, listed_at: int | None, changed_at: int | None) -> CheckedItem:
    details, paint, attachments = written.details, written.paint, written.attachments
    if details is None:
        details = written.details = CheckedDetails()
    if paint is None:
        paint = written.paint = CheckedPaint()
    if attachments is None:
        attachments = written.attachments = []
    written.listed_at = written.changed_at = UNSET
    # -0.0, which the engine orders below 0, becomes 0.0
    if written.price is not None:
        written.price += 0.0
    if paint.wear is not None:
        paint.wear += 0.0
    return CheckedItem(
        _encode(written),
        written.id,
        written.name,
        written.price,
        written.image,
        written.inspect_link,
        written.description,
        details,
        paint,
        attachments,
        listed_at,
        changed_at,
    )


def _refusal(detail: ErrorDetails) -> Refusal:
    name = ".".join(str(part) for part in detail["loc"]) or None
    missing = detail["type"] == "missing"
    return Refusal(name, None if missing else shortened(detail["input"]), plain_reason(detail["msg"]))
