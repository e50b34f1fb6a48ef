"""The schema of the filter on attachments."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from api.http.fields import INTEGER, NullDefault, Share, Strict, StrictCamelCase
from api.search.schemas.values import AT_LEAST, AT_MOST, FOLDING, Range, Value
from mappings.fields import FILTERS, Kind
from mappings.items.item import MAX_INTEGER

MAX_CONDITIONS = next(row.max_values for row in FILTERS if row.kind is Kind.ATTACHMENTS)

Copies = Annotated[int, Field(ge=1, le=MAX_INTEGER), INTEGER]
Number = Annotated[int, Field(ge=0, le=MAX_INTEGER), INTEGER]


class CountRange(Range):
    """Inclusive bounds of the number of all attachments of an item."""

    min: Number | None = Field(default=None, description=AT_LEAST)
    max: Number | None = Field(default=None, description=AT_MOST)


class AttachmentCondition(StrictCamelCase):
    """What one and the same attachment is like, and how many of that name there are at least."""

    name: Value = Field(description=f"the whole name; {FOLDING}")
    min_wear: Share | None = Field(
        default=None, description="at least so worn, inclusive; one without wear fulfils no such bound"
    )
    max_wear: Share | None = Field(
        default=None, description="at most so worn, inclusive; with `count`: so many no more worn than this"
    )
    count: Copies | None = Field(
        default=None, description="at least so many of that name; 1 where absent; not together with `minWear`"
    )

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.min_wear is not None and self.count is not None:
            raise ValueError("count and minWear cannot be asked together; ask for count with maxWear, or leave one out")
        if self.min_wear is not None and self.max_wear is not None and self.min_wear > self.max_wear:
            raise ValueError(f"minWear {self.min_wear} is more than maxWear {self.max_wear}")
        return self


class AttachmentFilter(Strict):
    """All of `all`, one of `any`, and so many attachments; what is absent, null or `[]` does not narrow."""

    all: Annotated[list[AttachmentCondition], Field(max_length=MAX_CONDITIONS), NullDefault([])] = Field(
        default_factory=list, description="the item has an attachment like each of these"
    )
    any: Annotated[list[AttachmentCondition], Field(max_length=MAX_CONDITIONS), NullDefault([])] = Field(
        default_factory=list, description="the item has an attachment like at least one of these; `[]`: no filter"
    )
    count: CountRange | None = None
