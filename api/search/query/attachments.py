"""The filter on attachments: its part of a checked body in, the engine's clause out. Pure.

Which tokens stand in the index, and why a range of them is exact, is told in `mappings.attachments`.
"""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel

from api.http.fields import Int64, NullDefault, Share
from api.search.schemas.descriptions import AT_LEAST, AT_MOST, FOLDING
from api.search.schemas.values import Range, Strict, Value
from mappings.attachments import count_token, other_range, ranked_range
from mappings.fields import FILTERS, Kind
from mappings.item import MOST_INTEGER

MOST_CONDITIONS = next(row.most for row in FILTERS if row.kind is Kind.ATTACHED)

Clause = dict[str, Any]
Copies = Annotated[Int64, Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_INTEGER})]
Number = Annotated[Int64, Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MOST_INTEGER})]


class CountRange(Range):
    """Inclusive bounds of the number of all attachments of an item."""

    min: Number | None = Field(default=None, description=AT_LEAST)
    max: Number | None = Field(default=None, description=AT_MOST)


class Attached(Strict):
    """What one and the same attachment is like, and how many of that name there are at least."""

    model_config = ConfigDict(alias_generator=to_camel)

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
            message = "count and minWear cannot be asked together; ask for count with maxWear, or leave one out"
            raise ValueError(message)
        if self.min_wear is not None and self.max_wear is not None and self.min_wear > self.max_wear:
            message = f"minWear {self.min_wear} is more than maxWear {self.max_wear}"
            raise ValueError(message)
        return self


class AttachmentFilter(Strict):
    """All of `all`, one of `any`, and so many attachments; what is absent, null or `[]` does not narrow."""

    all: Annotated[list[Attached], Field(max_length=MOST_CONDITIONS), NullDefault([])] = Field(
        default_factory=list, description="the item has an attachment like each of these"
    )
    any: Annotated[list[Attached], Field(max_length=MOST_CONDITIONS), NullDefault([])] = Field(
        default_factory=list, description="the item has an attachment like at least one of these; `[]`: no filter"
    )
    count: CountRange | None = None


def attachment_clause(asked: AttachmentFilter) -> Clause | None:
    """What an item's attachments must be; None where nothing is asked of them."""
    clauses = [_attached(one) for one in asked.all]
    if asked.any:
        clauses.append(_either([_attached(one) for one in asked.any]))
    bounds = {} if asked.count is None else {"gte": asked.count.min, "lte": asked.count.max}
    held = {name: bound for name, bound in bounds.items() if bound is not None}
    if held:
        clauses.append({"range": {"attachmentCount": held}})
    if not clauses:
        return None
    return clauses[0] if len(clauses) == 1 else {"bool": {"filter": clauses}}


def _attached(one: Attached) -> Clause:
    count = one.count or 1
    if one.min_wear is None and one.max_wear is None:
        return {"term": {"attachments": count_token(one.name, count)}}
    low = float(one.min_wear or 0)
    high = 1.0 if one.max_wear is None else float(one.max_wear)
    ranked = _between(ranked_range(one.name, count, low, high))
    # without a lower bound the least worn is within the bounds wherever another is
    return ranked if one.min_wear is None else _either([ranked, _between(other_range(one.name, low, high))])


def _between(ends: tuple[str, str]) -> Clause:
    first, last = ends
    return {"range": {"attachments": {"gte": first, "lte": last}}}


def _either(clauses: list[Clause]) -> Clause:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": clauses, "minimum_should_match": 1}}
