"""The document: one item as loaded in, one document of the index out, or the reasons why it is refused. Pure.

What the engine would not take is refused here, with the field's name, so that a bulk request never fails for it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import orjson
from pydantic import BeforeValidator, ValidationError
from pydantic_core import ErrorDetails

from indexer.documents.checked_item import CheckedItem, decoded, from_valid
from indexer.documents.name_features import stickers_of, told_by
from indexer.documents.rank import rank_of
from indexer.documents.timestamps import nanoseconds
from mappings.attachments import attachment_tokens
from mappings.fields import DETAILS
from mappings.item import GearItem
from mappings.money import to_minor
from mappings.platforms import Platform

LONGEST_SHOWN_VALUE = 120
# Every decimal of 15 digits is told from every other by its double.
MOST_CERTAIN = 10**15 - 1
# Enough for the report of an item whose JSON may be broken.
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18})(?![\d.eE])')


class LoadedItem(GearItem):
    """A gear item as a source gives it: what answers show, and when it was listed. The rules, and their words."""

    listed_at: Annotated[int, BeforeValidator(nanoseconds)] | None = None  # nanoseconds from 1970


@dataclass(frozen=True)
class Fault:
    """One thing wrong with an item: the dotted field (None: the whole item), its value shortened, the rule."""

    field: str | None
    value: str | None
    reason: str


class ItemRefusedError(ValueError):
    """An item that cannot be loaded; `faults` has at least one, `number` is its id where that is known."""

    def __init__(self, faults: tuple[Fault, ...], number: int | None = None) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.reason}" for fault in faults))
        self.faults = faults
        self.number = number


def item_from_json(text: bytes) -> CheckedItem:
    """Validates one item written as JSON; raises ItemRefusedError."""
    try:
        return decoded(text)
    except ValueError:  # nothing is lost: the slower way finds the same fault, and all others
        pass
    try:
        return _from_loaded(LoadedItem.model_validate_json(text, by_alias=True, by_name=False))
    except ValidationError as error:
        raise ItemRefusedError(_faults(error)) from error


def item_from_values(values: Mapping[str, Any]) -> CheckedItem:
    """Validates one item given as JSON values; raises ItemRefusedError."""
    try:
        return _from_loaded(LoadedItem.model_validate(values, by_alias=True, by_name=False))
    except ValidationError as error:
        raise ItemRefusedError(_faults(error)) from error


def _from_loaded(item: LoadedItem) -> CheckedItem:
    return from_valid(item.model_dump(by_alias=True, exclude={"listed_at"}), item.listed_at)


def item_of(content: bytes | Mapping[str, Any] | ItemRefusedError) -> CheckedItem:
    """Validates one item as a reader gives it, in whichever form; raises ItemRefusedError, the reader's own too."""
    if isinstance(content, ItemRefusedError):
        raise content
    return item_from_json(content) if isinstance(content, bytes) else item_from_values(content)


def readable_id(content: bytes | Mapping[str, Any] | ItemRefusedError) -> int | None:
    """The id of something that was refused, where one can be made out."""
    if isinstance(content, ItemRefusedError):
        return content.number
    if isinstance(content, bytes):
        match = _ID.search(content)
        return int(match.group(1)) if match else None
    number = content.get("id")
    return number if isinstance(number, int) and abs(number) < 2**63 else None


def index_document(item: CheckedItem, platform: Platform) -> dict[str, Any]:
    """The document of an item: the answer's JSON as it will be shown, `item`, and the fields that are searched.

    Raises ItemRefusedError where the price has more decimals than the platform's currency.
    """
    details, paint = item.details, item.paint
    told = told_by(item.name, details.weapon, details.exterior)
    document: dict[str, Any] = {
        "item": item.answer,
        "id": item.id,
        "platform": platform.id,
        "bound": False,
        "rank": rank_of(details, told.words, platform.relevance),
        "name": item.name,
        "group": told.group,
        "attachmentCount": len(item.attachments),
        # None is told: the engine keeps a place for it in `price.ascending` (docs/decisions/0033)
        "price": None if item.price is None else _minor(item.price, platform.minor_digits),
    }
    if item.attachments:
        document["attachments"] = attachment_tokens([(one.name, one.wear) for one in item.attachments])
        if stickers := stickers_of(item.attachments):
            document["stickers"] = stickers
    if item.listed_at is not None:
        document["listedAt"] = item.listed_at
    if paint.wear is not None:
        document["float"] = paint.wear + 0.0  # turns -0.0, which the engine orders below 0, into 0.0
    for name, number in (("seed", paint.seed), ("paintIndex", paint.index), ("pattern", paint.pattern)):
        if number is not None:
            document[name] = str(number)
    for name in DETAILS:
        word = getattr(details, name)
        if word is not None:
            document[name] = word
    if told.finish is not None:
        document["finish"] = told.finish
    return document


def _minor(price: float, digits: int) -> int:
    """The price in minor units, exactly, or ItemRefusedError."""
    scale: int = 10**digits
    minor = round(price * scale)
    # A double has 15 decimal digits for certain, and dividing whole numbers gives the double that is nearest to the
    # decimal: where it is this price, this is the decimal that the source wrote.
    if minor <= MOST_CERTAIN and minor / scale == price:
        return minor
    try:
        # repr is the shortest decimal that reads as this double, so it is what the source wrote
        return to_minor(Decimal(repr(price)), digits)
    except ValueError as error:
        raise ItemRefusedError((Fault("price", repr(price), str(error)),)) from error


def _faults(error: ValidationError) -> tuple[Fault, ...]:
    return tuple(_fault(detail) for detail in error.errors(include_url=False, include_context=False))


def _fault(detail: ErrorDetails) -> Fault:
    reason = detail["msg"].removeprefix("Value error, ")
    if detail["type"] == "string_pattern_mismatch":  # the only pattern of an item
        reason = "must not have a NUL character"
    field = ".".join(str(part) for part in detail["loc"]) or None
    missing = detail["type"] == "missing"
    return Fault(field, None if missing else shortened(detail["input"]), reason)


def shortened(value: Any) -> str:
    """A value for a message: as JSON where it can be, at most 120 characters."""
    if isinstance(value, bytes):
        value = value[: LONGEST_SHOWN_VALUE * 4].decode("utf-8", "backslashreplace")
    try:
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        if text == "null" and value is not None:  # NaN and infinities have no JSON
            text = repr(value)
    except orjson.JSONEncodeError:
        text = repr(value)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= LONGEST_SHOWN_VALUE else text[: LONGEST_SHOWN_VALUE - 1] + "…"
