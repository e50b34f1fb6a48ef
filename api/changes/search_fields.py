"""What a reader of changes asks for: the context of a search that relaxes nothing."""

from typing import Protocol

from pydantic import BaseModel

from api.engine.answers import SearchEngine
from api.search.context import SearchContext, search_context
from api.search.schemas.search import Filters, SearchBody, SortName
from mappings.platforms import Platforms


class SearchFields(Protocol):
    """The fields of a search that say what is meant."""

    platform: int | None
    query: str
    filters: Filters | None


def context_of(
    engine: SearchEngine, platforms: Platforms, body: SearchFields, forced: BaseModel | None
) -> SearchContext:
    """Raises ApiError for an unknown platform, and for prices that do not compare."""
    # without a text, in an order that compares no prices: only filters do
    sort = SortName("relevance" if body.query.strip() else "newest")
    search = SearchBody(platform=body.platform, query=body.query, filters=body.filters, sort=sort)
    return search_context(engine, platforms, search, forced)
