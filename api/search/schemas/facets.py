"""The names of facets and the schemas of their counts, from the table of filters."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from mappings.fields import FACETS, Filter, Kind

FacetName = StrEnum("FacetName", {row.name: row.name for row in FACETS})  # type: ignore[misc]  # names from the table

MAX_VALUES = 500

_Count = Annotated[int, Field(ge=0)]
_VALUES = (
    f"the {MAX_VALUES} values that most items have, most first, then by value; "
    "a selected one is listed in any case, with 0 if so; items without a value are not counted"
)


class ValueCount(BaseModel):
    """A value and how many items have it."""

    value: str = Field(
        description="as items spell it; where they have blanks side by side, with single ones and without `★` and "
        "`™`; to be sent in `filters` as it is"
    )
    count: _Count = Field(
        description="the `total` of the same search with this value alone for the field; spellings that a filter takes "
        "for one (`StatTrak™`, `★ StatTrak™`) each have the count of all of them: not to be added up"
    )


class Bucket(BaseModel):
    """Items whose value is at least `from` and less than `to`; in the last bucket `to` is inside."""

    model_config = ConfigDict(validate_by_name=True)

    low: float = Field(alias="from", description="inside")
    high: float = Field(alias="to", description="outside; inside in the last bucket")
    count: _Count = Field(description="items whose value lies there, 0 in an empty bucket between others")


class Histogram(BaseModel):
    """The least and the largest value and the buckets between, in order; null and none where no item has a value."""

    min: float | None = Field(description="the least value that an item has")
    max: float | None = Field(description="the largest value that an item has")
    buckets: list[Bucket] = Field(description="in order, from fixed edges; together all items that have a value")


def _response_of(row: Filter) -> tuple[Any, Any]:
    if row.kind is Kind.FOLDED:
        return (list[ValueCount], Field(default_factory=list, description=_VALUES))
    return (Histogram, Field(default_factory=lambda: Histogram(min=None, max=None, buckets=[])))


Facets: type[BaseModel] = create_model(
    "Facets",
    __doc__="The facets that were asked for; the filter of a field narrows all counts but those of the field itself, "
    "so its other values show what choosing them would find.",
    **{row.name: _response_of(row) for row in FACETS},  # type: ignore[call-overload]  # one field a facet
)
