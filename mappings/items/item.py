"""The gear item: the shape in which it is loaded and shown in responses, with the limits of each field. Pure.

A response has every key; a value that does not apply or is unknown is null, `attachments` is then empty.
"""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

MIN_INTEGER = -(2**63)
MAX_INTEGER = 2**63 - 1
MAX_ATTACHMENTS = 100
MAX_NAME_CHARACTERS = 512

Integer = Annotated[int, Field(strict=True, ge=MIN_INTEGER, le=MAX_INTEGER)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
# A NUL ends a string for many readers. PostgreSQL, which keeps orders and the names of their items, cannot store it.
Text = Annotated[str, Field(strict=True, pattern=r"^[^\x00]*$")]
Word = Annotated[Text, Field(min_length=1, max_length=256)]
Address = Annotated[Text, Field(min_length=1, max_length=2048)]


_NULL_AS_OBJECT = BeforeValidator(lambda value: {} if value is None else value)
_NULL_AS_LIST = BeforeValidator(lambda value: [] if value is None else value)


class _Shape(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )


class Details(_Shape):
    """What the item is, in the words of its platform."""

    type: Word | None = None
    weapon: Word | None = None
    set: Word | None = None
    quality: Word | None = None
    rarity: Word | None = None
    exterior: Word | None = None
    phase: Word | None = None
    tournament: Word | None = None
    color: Word | None = None


class Paint(_Shape):
    """How the item's finish was applied: `float` from 0 (as new) to 1, passed through unrounded."""

    wear: Share | None = Field(default=None, alias="float")
    seed: Integer | None = None
    index: Integer | None = None
    pattern: Integer | None = None


class Attachment(_Shape):
    """A sticker, charm or the like on the item; `wear` from 0 (as new) to 1 (scraped off)."""

    id: Integer | None = None
    name: Word
    wear: Share | None = None
    type: Word | None = None
    image: Address | None = None


class GearItem(_Shape):
    """One single item on offer, as responses show it."""

    id: Integer = Field(description="unique within a platform")
    name: Annotated[Text, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
    price: Annotated[Number, Field(ge=0, le=10**12)] | None = Field(
        default=None, description="in the platform's currency, main unit, at most two decimals"
    )
    image: Address | None = None
    inspect_link: Address | None = None
    description: Annotated[Text, Field(max_length=10_000)] | None = None
    details: Annotated[Details, _NULL_AS_OBJECT] = Field(default_factory=Details)
    paint: Annotated[Paint, _NULL_AS_OBJECT] = Field(default_factory=Paint)
    attachments: Annotated[list[Attachment], Field(max_length=MAX_ATTACHMENTS), _NULL_AS_LIST] = Field(
        default_factory=list
    )
