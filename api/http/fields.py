"""What bodies and responses are made of: objects, field types, and ids in paths and bodies. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
    create_model,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from mappings.items.item import MAX_INTEGER, MIN_INTEGER, Text
from mappings.money import MAX_PRICE


class Strict(BaseModel):
    """An object without other keys than those of its fields."""

    model_config = ConfigDict(extra="forbid")


class CamelCase(BaseModel):
    """An object with keys in camel case."""

    model_config = ConfigDict(alias_generator=to_camel)


class StrictCamelCase(Strict, CamelCase):
    """Both."""


def success(name: str, text: str, base: type[BaseModel] = StrictCamelCase, /, **fields: Any) -> type[BaseModel]:
    """The schema of a success that no code has as a type: `status` and these fields; `BaseModel` lets others pass."""
    return create_model(name, __base__=base, __doc__=text, status=Literal["success"], **fields)


def _integer(value: Any) -> int:
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if is_number and not MIN_INTEGER <= value <= MAX_INTEGER:
        raise ValueError("must be a 64-bit integer")
    if not is_number or value != int(value):
        raise ValueError("must be an integer")
    return int(value)


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError("must be a number")
    return Decimal(value)


INTEGER: Final = BeforeValidator(_integer)
"""Last in the `Annotated` of an `int`: a decimal without a fraction is one too, and nothing else."""
Int64 = Annotated[int, Field(ge=MIN_INTEGER, le=MAX_INTEGER), INTEGER]
Price = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=int(MAX_PRICE)),  # not as a decimal, whose message would name the class
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": float(MAX_PRICE)}),
]
Share = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=1),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]


@dataclass(frozen=True)
class NullDefault:
    """Last in a field's `Annotated`: null, which means absent, becomes `default`; the JSON schema allows null."""

    default: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            lambda value: self.default if value is None else value, handler(source)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema), {"type": "null"}]}


MAX_URL_CHARACTERS = 2048
Link = Annotated[Text, Field(max_length=MAX_URL_CHARACTERS, json_schema_extra={"format": "uri"})]

ResourceId = Annotated[str, AfterValidator(lambda text: text if text.isprintable() else "")]
"""An id in a path. No id is unprintable, and PostgreSQL cannot compare U+0000: such a text is the id of nothing."""


def parse_item_id(text: str) -> int | None:
    """The 64-bit id that the text spells in canonical decimal, or None."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 19:
        return None
    number = int(text)
    return number if str(number) == text and MIN_INTEGER <= number <= MAX_INTEGER else None
