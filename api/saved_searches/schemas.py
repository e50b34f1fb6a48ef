"""The body of `POST /v1/searches`, and the responses about saved searches."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from api.changes.schemas import SearchFields
from api.http.fields import Link, StrictCamelCase, success
from mappings.items.item import Text

MAX_NAME_CHARACTERS = 128
Name = Annotated[Text, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]


class SavedSearchBody(SearchFields):
    """`POST /v1/searches`: null for a field means absent."""

    name: Name = Field(description="the client's own name for it, which callbacks have")
    callback_url: Link = Field(
        repr=False, description="receives what comes to match; an absolute https URL of a public host"
    )


class SavedSearchEntry(StrictCamelCase):
    """A saved search."""

    id: str
    name: str
    platform: int | None
    query: str
    filters: dict[str, Any] | None = Field(description="as they were sent")
    callback_url: str
    created_at: str = Field(description="RFC 3339, UTC")
    gap_at: str | None = Field(
        description="when changes were last not told: a lost log, too many waiting callbacks or a fault; read all again"
    )


SavedSearchResponse = success("SavedSearchResponse", "One saved search.", BaseModel, search=SavedSearchEntry)


class SavedSearchesResponse(StrictCamelCase):
    """A page of saved searches, newest first."""

    status: Literal["success"]
    searches: list[SavedSearchEntry]
    next_cursor: str | None = Field(description="send it as `cursor` for the next page; null at the end")


class RemovedSearchResponse(BaseModel):
    """A saved search that is gone."""

    status: Literal["success"]
    removed: str = Field(description="its id")
