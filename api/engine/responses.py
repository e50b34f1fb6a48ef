"""Search responses: their types, their JSON and whether they are complete. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, NamedTuple, Protocol, TypedDict, TypeVar

import msgspec
import orjson

from api.errors import ApiError
from mappings.items.listing import Listing
from mappings.platforms import Platform

Json = dict[str, Any]
Gear = orjson.Fragment  # an item as JSON


class Hit(TypedDict, total=False):
    """One hit: its listing, its item as it was loaded, which is put together from that, and what it is sorted by."""

    _index: str
    _id: str
    _source: Listing
    item: bytes
    sort: list[Any]


Found = TypeVar("Found")


class _Hits(TypedDict, Generic[Found], total=False):
    total: Json
    hits: list[Found]


class _Response(TypedDict, total=False):
    timed_out: bool
    _shards: Json


class HitsResponse(_Response, Generic[Found], total=False):
    hits: _Hits[Found]


class EngineResponse(_Response, total=False):
    """The parts of the response to a search of listings that we read."""

    hits: _Hits[Hit]
    aggregations: Json
    status: int
    error: Any


class _MultiSearchResponse(TypedDict, total=False):
    responses: list[EngineResponse]


@dataclass(frozen=True, kw_only=True)
class StoredItem:
    """An item of the index: its JSON as responses show it, its price in minor units if it has one, the digest of both,
    whether it is bound, when it was last changed (microseconds since 1970) and when its index was made.
    """

    item: Json
    price: int | None
    listed_at: int | None
    digest: dict[str, int] | None
    bound: bool
    version: int | None
    loaded_at: datetime | None


Products = tuple[str, ...]
"""The indices with the products of some platforms, or their aliases."""


class OpenedPit(NamedTuple):
    """The id of a point in time of listings, and where their products are."""

    id: str
    products: Products


class SearchEngine(Protocol):
    """What a search needs of the engine's client."""

    async def search_all(
        self, platforms: Sequence[Platform], bodies: Sequence[Json], *filter_path: str
    ) -> list[EngineResponse]:
        """The complete responses to several search bodies, in one round trip."""

    async def search_pit(self, body: Json, products: Products) -> EngineResponse:
        """The complete response to a search body that names a point in time, whose products are there."""


class Source(Protocol):
    """What is searched: the indices of some platforms, or a point in time of them."""

    async def search_all(self, bodies: Sequence[Json], *filter_path: str) -> list[EngineResponse]:
        """The complete responses to several search bodies."""


class BadResponseError(ApiError):
    """A response that cannot be used: incomplete, or not one of a search engine."""

    def __init__(self, event: str, message: str = "", **facts: Any) -> None:
        super().__init__("search_unavailable", message)
        self.event = event
        self.facts = facts


Decoded = TypeVar("Decoded")
Row = TypeVar("Row")
Response = TypeVar("Response", bound=_Response)

LISTINGS: Final = msgspec.json.Decoder(EngineResponse)
_multi_search = msgspec.json.Decoder(_MultiSearchResponse)
_json = msgspec.json.Decoder(Json)


def read_multi_search(content: bytes) -> list[EngineResponse]:
    """Decodes the responses to a multi-search; raises BadResponseError."""
    return decoded(_multi_search, content).get("responses", [])


def read_json(content: bytes) -> Json:
    """Decodes any other response; raises BadResponseError."""
    return decoded(_json, content)


def decoded(decoder: msgspec.json.Decoder[Decoded], content: bytes) -> Decoded:
    """What a decoder makes of a response; raises BadResponseError."""
    try:
        return decoder.decode(content)
    except ValueError as error:  # not JSON, or JSON of another shape
        event = "what answers is no search engine; see GEAR_OPENSEARCH_URL"
        raise BadResponseError(event, response=str(content[:100], errors="replace")) from error


def all_shards_of(response: Response, *, fewest: int = 1) -> Response:
    """The same response if every shard, and so many at least, gave its part in time; raises BadResponseError."""
    parts: _Response = response
    shards, timed_out = parts.get("_shards", {}), parts.get("timed_out")
    if timed_out or shards.get("failed") or shards.get("total", -1) < fewest:
        raise partial_response(shards=shards, timedOut=timed_out)
    return response


def partial_response(**facts: Any) -> BadResponseError:
    """The error for a response that lacks something; `facts` are for the log."""
    return BadResponseError(
        "partial response of the engine", "the search engine gave only a part of the response", **facts
    )


def all_of(rows: list[Row], count: int) -> list[Row]:
    """The rows of a response that has one for each of `count` requests; raises BadResponseError for any other."""
    if len(rows) != count:
        raise partial_response(requests=count, responses=len(rows))
    return rows


def total_of(response: EngineResponse | HitsResponse[Any]) -> int:
    """The exact number of hits."""
    return int(response["hits"]["total"]["value"])


def hits_of(response: HitsResponse[Found]) -> list[Found]:
    """The hits of the page; where there are none the engine leaves the key out, or both where it is to name no more."""
    return response["hits"].get("hits", []) if "hits" in response else []


def item_of(hit: Hit) -> Gear:
    """The item of a hit, as it was loaded."""
    return Gear(hit["item"])
