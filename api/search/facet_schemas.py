"""Facet schemas: the table of filters in, the names of facets and the shapes of their answers out."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from mappings.fields import FACETS, Filter, Kind

FacetName = StrEnum("FacetName", {row.name: row.name for row in FACETS})  # type: ignore[misc]  # names from the table

_Count = Annotated[int, Field(ge=0)]


class ValueCount(BaseModel):
    """A value in its own spelling; `count` is the `total` of the same search with this value for the field."""

    value: str
    count: _Count


class Bucket(BaseModel):
    """Items whose value is at least `from` and less than `to`; in the last bucket `to` is inside."""

    model_config = ConfigDict(validate_by_name=True)

    low: float = Field(alias="from")
    high: float = Field(alias="to")
    count: _Count


class Histogram(BaseModel):
    """The least and the largest value and the buckets between, in order; null and none where no item has a value."""

    min: float | None
    max: float | None
    buckets: list[Bucket]


def _answer_of(row: Filter) -> tuple[Any, Any]:
    if row.kind is Kind.FOLDED:
        return (list[ValueCount], Field(default_factory=list))
    return (Histogram, Field(default_factory=lambda: Histogram(min=None, max=None, buckets=[])))


Facets: type[BaseModel] = create_model(
    "Facets",
    __doc__="The facets that were asked for; the selection of a field narrows all counts but its own.",
    **{row.name: _answer_of(row) for row in FACETS},  # type: ignore[call-overload]  # one field a facet
)
