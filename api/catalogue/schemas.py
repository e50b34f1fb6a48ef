"""The bodies of writes to the catalogue, and their response."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from api.catalogue.body import JSON, MAX_ITEMS, NDJSON
from api.http.fields import Int64, Strict, StrictCamelCase


class DeleteBody(StrictCamelCase):
    """`DELETE /v1/catalogue/{platform}/items`: null for a field means absent."""

    ids: list[Int64] = Field(min_length=1, max_length=MAX_ITEMS, description="the items that are gone")
    changed_at: Annotated[str, Field(strict=True)] | None = Field(
        default=None,
        description="RFC 3339: when they went, by the source's clock; at most 5 seconds ahead of ours; absent: now",
        json_schema_extra={"format": "date-time"},
    )


class RefusedEntry(Strict):
    """An item that was refused; the others of the request are written all the same."""

    line: int = Field(description="of the body, from 1; that on which the item begins")
    id: int | None
    field: str | None = Field(description="dotted path; null: the item as a whole")
    reason: str = Field(description="the rule that it breaks, and any others with their fields behind it")


class CatalogueResponse(Strict):
    """What became of the items: each was written, superseded or refused."""

    status: Literal["success"]
    written: int = Field(description="changes that hold now, those that held before among them")
    superseded: int = Field(description="changes for which a later one of the same item is known: they change nothing")
    refused: list[RefusedEntry]


UPSERT_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": (
            "Items as `GET /v1/gear/{id}` shows them, each optionally with `listedAt` and `changedAt` (RFC 3339: the "
            "source's time of the change, at most 5 seconds ahead of ours; absent: now). Only `id` and `name` are "
            "required. `Content-Encoding` may be gzip or zstd; at most 8 MiB, as sent and unpacked."
        ),
        "content": {
            JSON: {"schema": {"type": "array", "items": {}, "maxItems": MAX_ITEMS}},
            NDJSON: {
                "schema": {"type": "string", "description": "one item a line"},
                "examples": {"lines": {"value": '{"id": 40000012346, "name": "AWP | Asiimov (Field-Tested)"}\n'}},
            },
        },
    }
}
