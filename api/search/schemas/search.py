"""Schemas of search, suggestions and single items, with the limits of their requests."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model, model_validator

from api.http.fields import INTEGER, Int64, NullDefault, Price, Share, Strict, success
from api.search.parsing.parse import Relaxation
from api.search.schemas.attachments import AttachmentFilter
from api.search.schemas.facets import FacetName, Facets
from api.search.schemas.values import ANY_OF, AT_LEAST, AT_MOST, FOLDING, Range, Value
from mappings.fields import FACETS, FILTERS, SORTS, SUGGESTED, Filter, Kind
from mappings.items.item import MAX_NAME_CHARACTERS, GearItem

MAX_QUERY_CHARACTERS = 200
DEFAULT_LIMIT = 20
MAX_LIMIT = 100
PAGE_WINDOW = 10_000
MAX_SUGGEST_CHARACTERS = 100
DEFAULT_SUGGESTIONS = 8
MAX_SUGGESTIONS = 20

KindName = StrEnum("KindName", {row.kind: row.kind for row in SUGGESTED})  # type: ignore[misc]  # names from the table

_DESCRIPTIONS = {
    "name": f"{ANY_OF}, whole and byte for byte, as `name` of an item or a suggestion says it",
    "quality": f"{ANY_OF}; {FOLDING}: `StatTrak` and `StatTrak™` find `★ StatTrak™` too, and the other way round; "
    "`★` alone is compared as it is",
}

SortName = StrEnum("SortName", {sort.name: sort.name for sort in SORTS})  # type: ignore[misc]  # names from the table


class PriceRange(Range):
    """Inclusive bounds in the platform's currency, main unit; compared exactly at any number of decimals."""

    min: Price | None = Field(default=None, description=AT_LEAST)
    max: Price | None = Field(default=None, description=AT_MOST)


class FloatRange(Range):
    """Inclusive bounds of `paint.float`, 0 to 1."""

    min: Share | None = Field(default=None, description=AT_LEAST)
    max: Share | None = Field(default=None, description=AT_MOST)


ItemName = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_NAME_CHARACTERS)]

# The kinds whose filters are lists: the values, and what they mean.
_LISTS: dict[Kind, tuple[Any, str]] = {
    Kind.FOLDED: (list[Value], f"{ANY_OF}; {FOLDING}"),
    Kind.EXACT: (list[ItemName], ANY_OF),
    Kind.INTEGER: (list[Int64], ANY_OF),
}

PageLimit = Annotated[int, Field(ge=1, le=MAX_LIMIT), INTEGER]
Page = Annotated[Int64, Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1, "maximum": PAGE_WINDOW})]


def _field_of(row: Filter) -> tuple[Any, Any]:
    if row.kind is Kind.MONEY:
        return (PriceRange | None, None)
    if row.kind is Kind.RANGE:
        return (FloatRange | None, None)
    if row.kind is Kind.ATTACHMENTS:
        return (AttachmentFilter | None, None)
    values, means = _LISTS[row.kind]
    if row.kind is Kind.INTEGER:
        means = f"{means} `{row.path}`"
    return (
        Annotated[values, Field(max_length=row.max_values), NullDefault([])],
        Field(default_factory=list, description=_DESCRIPTIONS.get(row.name, means)),
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
    query: Annotated[str, Field(strict=True, max_length=MAX_QUERY_CHARACTERS), NullDefault("")] = Field(
        default="",
        description="what a buyer types: words, slang, codes, prices, floats, seeds, in any order; blank: everything",
    )
    filters: Filters | None = None
    limit: Annotated[PageLimit, NullDefault(DEFAULT_LIMIT)] = Field(default=DEFAULT_LIMIT, description="hits a page")
    page: Annotated[Page, NullDefault(1)] = Field(
        default=1, description=f"counts from 1; page × limit is at most {PAGE_WINDOW:,}; to read beyond, use a `cursor`"
    )
    sort: SortName | None = Field(
        default=None,
        description="absent: `relevance` with a query, else `price_asc`; ties by id ascending; "
        "items without the value last; names are compared without case, accents, ★ and ™",
    )
    cursor: Annotated[str, Field(strict=True, min_length=1)] | None = Field(
        default=None,
        description="`*` starts reading all hits; the same body with the response's `nextCursor` here continues it, "
        "until that is null: only `limit` may differ on the way; not together with `page`; with `groupBy` it leads to "
        "the last name, each with its offers at the time of the page",
    )
    facets: Annotated[list[FacetName], Field(max_length=len(FACETS)), NullDefault([])] = Field(
        default_factory=list,
        description="fields whose values are counted over all hits; adds `facets` to the response; a field's own "
        "filter does not narrow its own counts, all other filters do",
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
            return {name: part for name, part in value.items() if name != "page"}
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


class ReadTerm(BaseModel):
    """A part of the text with what it means."""

    typed: str = Field(description="as it was typed")
    means: list[dict[str, Any]] = Field(
        description="what it means, each as `filters` of a request would say it: any of these; none: it is a mere word"
    )
    begins: list[str] | None = Field(
        default=None, description="words of items may begin with one of these; only for a word that may be unfinished"
    )


class Relaxed(BaseModel):
    """What was typed, and what it was taken for because nothing was found otherwise."""

    typed: str
    to: str = Field(description="for people")


class Interpretation(BaseModel):
    """How the text was parsed: an item matches every term by its typed words or by one of its meanings."""

    platform: int = Field(description="numeric id of the platform whose vocabulary this is")
    reading: Relaxation = Field(
        description="the relaxation applied to page, `total`, facets and groups; `strict` unless that finds nothing"
    )
    words: list[str] = Field(description="the mere words, which an item must have")
    filters: dict[str, Any] = Field(description="all that the text means, as `filters` of a request would say it")
    terms: list[ReadTerm] = Field(description="prices, floats and seeds are the last")
    excluded: list[ReadTerm] = Field(description="what is not wanted: no hit has one of these by words or by meaning")
    sort: SortName | None = Field(
        description="the order that the text asks for; it applies where the body has no `sort`"
    )
    ignored: list[str] | None = Field(
        default=None, description="only with the reading `partial`: words that were left out, because nothing has them"
    )
    pinned: list[str] | None = Field(
        default=None,
        description="only where operators have pinned names to the text: they are found too, and first by relevance",
    )
    relaxed: list[Relaxed] = Field(description="what is read more loosely than it was typed; empty where nothing is")
    others: list["Interpretation"] | None = Field(
        default=None,
        description="the same for the other platforms or the other items of the text, where there are several",
    )


class SearchResponse(BaseModel):
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


ItemResponse = success(
    "ItemResponse",
    "One item; `available` says whether it can be ordered now.",
    BaseModel,
    gear=GearItem,
    available=bool,
)


class SuggestionEntry(BaseModel):
    """A text to search for; `sticker` is one that is on an item."""

    text: str
    kind: KindName
    count: Annotated[int, Field(ge=1, description="how many items on offer have it, exactly")]


SuggestResponse = success(
    "SuggestResponse", "The best suggestions first.", BaseModel, suggestions=list[SuggestionEntry]
)
