"""What a reader of changes asks for: the context of a search that relaxes nothing."""

from typing import Annotated

from pydantic import BaseModel, Field

from api.engine.responses import SearchEngine
from api.http.fields import Int64, NullDefault, StrictCamelCase
from api.search.context import SearchContext, search_context
from api.search.schemas.search import MAX_QUERY_CHARACTERS, Filters, SearchBody, SortName
from mappings.platforms import Platforms


class SearchFields(StrictCamelCase):
    """The fields of a search that say what is meant."""

    platform: Int64 | None = Field(default=None, description="numeric id of a platform; all platforms where absent")
    query: Annotated[str, Field(strict=True, max_length=MAX_QUERY_CHARACTERS), NullDefault("")] = Field(
        default="",
        description="words that an item must have or mean, as in a search; nothing is read more loosely than it was "
        "typed, and words of order change nothing",
    )
    filters: Filters | None = None


def context_of(
    engine: SearchEngine, platforms: Platforms, body: SearchFields, forced: BaseModel | None
) -> SearchContext:
    """Raises ApiError for an unknown platform, and for prices that do not compare."""
    # without a text, in an order that compares no prices: only filters do
    sort = SortName("relevance" if body.query.strip() else "newest")
    search = SearchBody(platform=body.platform, query=body.query, filters=body.filters, sort=sort)
    return search_context(engine, platforms, search, forced)
