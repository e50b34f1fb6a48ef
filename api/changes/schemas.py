"""The body of `POST /v1/gear/changes`, its response, and an event of its stream; what its search means."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from api.engine.responses import SearchEngine
from api.http.fields import INTEGER, Int64, NullDefault, StrictCamelCase
from api.search.context import SearchContext, search_context
from api.search.schemas.search import MAX_QUERY_CHARACTERS, Filters, SearchBody, SortName
from mappings.items.item import GearItem
from mappings.platforms import Platforms

DEFAULT_CHANGES = 100
MAX_CHANGES = 1000
MAX_WAIT_SECONDS = 30
MAX_BOOKMARK_CHARACTERS = 100

PageLimit = Annotated[int, Field(ge=1, le=MAX_CHANGES), INTEGER]
Wait = Annotated[int, Field(ge=0, le=MAX_WAIT_SECONDS), INTEGER]
BookmarkText = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_BOOKMARK_CHARACTERS)]


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


class ChangesBody(SearchFields):
    """`POST /v1/gear/changes`: null for a field means absent."""

    since: BookmarkText | None = Field(default=None, description="`next` of the response before; absent: from now on")
    limit: Annotated[PageLimit, NullDefault(DEFAULT_CHANGES)] = Field(DEFAULT_CHANGES, description="changes a page")
    wait: Annotated[Wait, NullDefault(0)] = Field(
        default=0, description="seconds to wait for the first change; not for a stream, which always waits"
    )


class ChangeEntry(BaseModel):
    """A change of what the query and the filters find."""

    id: int
    platform: int | None = Field(default=None, description="only where several platforms are asked for")
    change: Literal["listed", "changed", "gone"]
    at: str = Field(description="when it was recorded (RFC 3339), within two seconds of the change")
    gear: GearItem | None = Field(default=None, description="the item after the change; not with `gone`")


class ChangesResponse(BaseModel):
    """Changes, the oldest first."""

    status: Literal["success"]
    changes: list[ChangeEntry]
    next: str = Field(description="send it as `since` to read on; opaque")
    more: bool = Field(description="whether there are more already")


EVENT = 'id: 5f0c2a9be1d34780.1042\ndata: {"id":40000012399,"change":"gone","at":"2026-01-01T12:00:00.250Z"}\n\n'
