"""Schemas of `GET /v1/platforms`."""

from typing import Literal

from pydantic import BaseModel

from api.http.fields import CamelCase


class FilterEntry(CamelCase):
    """One filter with its limits, those that its kind has; `facet` where it can be counted by."""

    name: str
    kind: Literal["values", "names", "integers", "range", "attachments"]
    facet: bool
    max_values: int | None = None
    max_characters: int | None = None
    minimum: float | None = None
    maximum: float | None = None


class PlatformEntry(CamelCase):
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


class PlatformsResponse(BaseModel):
    """Everything that a client can look up instead of hard-coding it."""

    status: Literal["success"]
    platforms: list[PlatformEntry]
    sorts: list[str]
    limits: dict[str, int | str | None]
    errors: list[ErrorEntry]
