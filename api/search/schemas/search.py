"""Search bodies and answers: what may be asked, with its limits, and the shape of what is answered."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model, model_validator
from pydantic.alias_generators import to_camel

from api.errors import ApiError, Detail
from api.http.fields import Int64, NullDefault, Price, Share
from api.search.query.attachments import AttachmentFilter
from api.search.schemas.descriptions import ANY_OF, AT_LEAST, AT_MOST, FOLDING, MEANINGS
from api.search.schemas.facets import FacetName, Facets
from api.search.schemas.interpretation import Interpretation
from api.search.schemas.values import Range, Strict, Value
from mappings.fields import FACETS, FILTERS, SORTS, Filter, Kind
from mappings.item import GearItem
from mappings.platforms import Platform, Platforms

MOST_QUERY_CHARACTERS = 200
DEFAULT_LIMIT = 20
MOST_LIMIT = 100
PAGE_WINDOW = 10_000

SortName = StrEnum("SortName", {sort.name: sort.name for sort in SORTS})  # type: ignore[misc]  # names from the table


class PriceRange(Range):
    """Inclusive bounds in the platform's currency, main unit; compared exactly at any number of decimals."""

    min: Price | None = Field(default=None, description=AT_LEAST)
    max: Price | None = Field(default=None, description=AT_MOST)


class FloatRange(Range):
    """Inclusive bounds of `paint.float`, 0 to 1."""

    min: Share | None = Field(default=None, description=AT_LEAST)
    max: Share | None = Field(default=None, description=AT_MOST)


Limit = Annotated[
    Int64, Field(ge=1, le=MOST_LIMIT), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MOST_LIMIT})
]
Page = Annotated[Int64, Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": PAGE_WINDOW})]


def _field_of(row: Filter) -> tuple[Any, Any]:
    if row.kind is Kind.MONEY:
        return (PriceRange | None, None)
    if row.kind is Kind.RANGE:
        return (FloatRange | None, None)
    if row.kind is Kind.ATTACHED:
        return (AttachmentFilter | None, None)
    values, means = (list[Value], f"{ANY_OF}; {FOLDING}") if row.kind is Kind.FOLDED else (list[Int64], ANY_OF)
    return (
        Annotated[values, Field(max_length=row.most), NullDefault([])],
        Field(default_factory=list, description=MEANINGS.get(row.name, means)),
    )


Filters: type[BaseModel] = create_model(
    "Filters",
    __base__=Strict,
    __doc__="An item must meet every field, by any one of its values. Absent, null and `[]` mean no filter; "
    "a value that no item has finds nothing.",
    **{row.name: _field_of(row) for row in FILTERS},  # type: ignore[call-overload]  # one field a row
)


class SearchBody(Strict):
    """`POST /v1/gear/search`: null for a field means absent."""

    platform: Int64 | None = Field(default=None, description="numeric id of a platform; all platforms where absent")
    query: Annotated[str, Field(strict=True, max_length=MOST_QUERY_CHARACTERS), NullDefault("")] = Field(
        default="",
        description="what a buyer types: words, slang, codes, prices, floats, seeds, in any order; blank: everything",
    )
    filters: Filters | None = None
    limit: Annotated[Limit, NullDefault(DEFAULT_LIMIT)] = Field(default=DEFAULT_LIMIT, description="hits a page")
    page: Annotated[Page, NullDefault(1)] = Field(
        default=1, description=f"counts from 1; page × limit is at most {PAGE_WINDOW:,}, further on leads a `cursor`"
    )
    sort: SortName | None = Field(
        default=None,
        description="absent: `relevance` with a query, else `price_asc`; ties by id ascending; "
        "items without the value last",
    )
    cursor: Annotated[str, Field(strict=True, min_length=1)] | None = Field(
        default=None,
        description="`*` starts a walk over all hits; the same body with the answer's `nextCursor` here continues it, "
        "until that is null: only `limit` may differ on the way; not together with `page` or `groupBy`",
    )
    facets: Annotated[list[FacetName], Field(max_length=len(FACETS)), NullDefault([])] = Field(
        default_factory=list,
        description="fields whose values are counted over all hits; adds `facets` to the answer; a field's own filter "
        "does not narrow its own counts, all other filters do",
    )
    group_by: Literal["name"] | None = Field(
        default=None,
        alias="groupBy",
        description="one hit a name: its cheapest item, with `offers`; `sort` orders these hits, `total` counts names, "
        "`facets` go on counting items",
    )
    explain: Annotated[bool, Field(strict=True), NullDefault(False)] = Field(
        default=False, description="adds `interpretation`: how the query text was understood"
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_no_page(cls, value: Any) -> Any:
        if isinstance(value, dict) and "page" in value and value["page"] is None:
            return {name: held for name, held in value.items() if name != "page"}
        return value

    @property
    def names_page(self) -> bool:
        """Whether a page was asked for, the first one too."""
        return "page" in self.model_fields_set


class Offers(BaseModel):
    """All items of a name that the search finds: how many, and what their prices and floats span."""

    count: Annotated[int, Field(ge=1, description="how many items")]
    price_min: float | None = Field(alias="priceMin", description="null where none has a price")
    price_max: float | None = Field(alias="priceMax", description="null where none has a price")
    float_min: float | None = Field(alias="floatMin", description="null where none has a float")
    float_max: float | None = Field(alias="floatMax", description="null where none has a float")


def _only_with_groups(schema: dict[str, Any]) -> None:
    schema["required"].remove("offers")


class SearchHit(GearItem):
    """An item on offer; with `groupBy` the cheapest of its name, and `offers`."""

    model_config = ConfigDict(json_schema_extra=_only_with_groups)

    offers: Offers | None = Field(default=None, description="only with `groupBy`")


class SearchAnswer(BaseModel):
    """One page of hits and the exact number of all; `facets` and `interpretation` only for who asked."""

    status: Literal["success"]
    gear: list[SearchHit] = Field(description="the hits of this page, in the order of `sort`")
    total: Annotated[int, Field(ge=0, description="exactly how many hits there are; with `groupBy` how many names")]
    next_cursor: str | None = Field(
        default=None,
        alias="nextCursor",
        description="only with `cursor`: continues it for 5 minutes from now; null where all hits have been given",
    )
    facets: Facets = Field(default_factory=Facets, description="only with `facets`")
    interpretation: Interpretation | None = Field(default=None, description="only with `explain`")


class ItemAnswer(BaseModel):
    """One item; `available` says whether it can be ordered now."""

    status: Literal["success"]
    gear: GearItem
    available: bool


class _Shape(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class FilterEntry(_Shape):
    """One filter with its limits, those that its kind has; `facet` where it can be counted by."""

    name: str
    kind: Literal["values", "integers", "range", "attachments"]
    facet: bool
    max_values: int | None = None
    max_characters: int | None = None
    minimum: float | None = None
    maximum: float | None = None


class PlatformEntry(_Shape):
    """A platform; `indexedAt` is null and `items` 0 until its catalogue has been loaded."""

    id: int
    slug: str
    name: str
    currency: str
    items: int
    indexed_at: str | None
    filters: list[FilterEntry]


class ErrorEntry(BaseModel):
    """One row of the error table."""

    code: str
    status: int
    message: str


class PlatformsAnswer(BaseModel):
    """Everything that a client can look up instead of hard-coding it."""

    status: Literal["success"]
    platforms: list[PlatformEntry]
    sorts: list[str]
    limits: dict[str, int | str | None]
    errors: list[ErrorEntry]


def platforms_of(body: SearchBody, platforms: Platforms) -> list[Platform]:
    """The platforms that are searched; raises ApiError `unknown_platform`."""
    if body.platform is None:
        return list(platforms)
    platform = platforms.by_id(body.platform)
    if platform is None:
        message = f"unknown platform {body.platform}; known are {platforms.known()}"
        raise ApiError("unknown_platform", message, [Detail("platform", message)])
    return [platform]


def check_window(body: SearchBody) -> None:
    """Raises ApiError `page_window_exceeded` where the page lies beyond what paging reaches."""
    if body.page * body.limit > PAGE_WINDOW:
        message = f"page x limit is {body.page * body.limit}, at most {PAGE_WINDOW} can be paged; "
        message += 'further on leads a cursor: start it with "cursor": "*" in the place of page'
        raise ApiError("page_window_exceeded", message, [Detail("page", message)])
