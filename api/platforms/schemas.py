"""Schemas of `GET /v1/platforms`, with their example."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class _CamelCase(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class FilterEntry(_CamelCase):
    """One filter with its limits, those that its kind has; `facet` where it can be counted by."""

    name: str
    kind: Literal["values", "names", "integers", "range", "attachments"]
    facet: bool
    max_values: int | None = None
    max_characters: int | None = None
    minimum: float | None = None
    maximum: float | None = None


class PlatformEntry(_CamelCase):
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


PLATFORMS_ANSWER: dict[str, Any] = {
    "status": "success",
    "platforms": [
        {
            "id": 730,
            "slug": "cs2",
            "name": "Counter-Strike 2",
            "currency": "USD",
            "items": 60000,
            "indexedAt": "2026-08-09T04:00:00Z",
            "filters": [
                {"name": "price", "kind": "range", "minimum": 0, "maximum": 1000000000000, "facet": True},
                {"name": "weapon", "kind": "values", "maxValues": 100, "maxCharacters": 100, "facet": True},
                {"name": "seed", "kind": "integers", "maxValues": 1000, "facet": False},
                {
                    "name": "attachments",
                    "kind": "attachments",
                    "maxValues": 20,
                    "maxCharacters": 100,
                    "minimum": 0,
                    "maximum": 1,
                    "facet": False,
                },
            ],
        }
    ],
    "sorts": ["relevance", "price_asc"],
    "limits": {"queryCharacters": 200, "limit": 100, "pageWindow": 10000, "facetValues": 500},
    "errors": [{"code": "unauthorized", "status": 401, "message": "a valid bearer token is needed"}],
}
