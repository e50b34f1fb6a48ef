"""Numbers in requests: parsed JSON numbers and ids as text in, integers and decimals of a given range out."""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from mappings.item import LEAST_INTEGER, MOST_INTEGER
from mappings.money import MOST_PRICE


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        message = "must be an integer"
        raise ValueError(message)
    if not LEAST_INTEGER <= value <= MOST_INTEGER:
        message = "must be a 64-bit integer"
        raise ValueError(message)
    if value != int(value):
        message = "must be an integer"
        raise ValueError(message)
    return int(value)


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        message = "must be a number"
        raise ValueError(message)
    return Decimal(value)


Whole = Annotated[
    int,
    BeforeValidator(_whole),
    WithJsonSchema({"type": "integer", "minimum": LEAST_INTEGER, "maximum": MOST_INTEGER}),
]
Price = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=MOST_PRICE),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": float(MOST_PRICE)}),
]
Share = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=1),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]


def item_number(text: str) -> int | None:
    """The 64-bit id that a text writes in canonical decimal, or None."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 19:
        return None
    number = int(text)
    return number if str(number) == text and LEAST_INTEGER <= number <= MOST_INTEGER else None
