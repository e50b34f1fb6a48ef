"""Search answers: their types, their JSON and whether they are complete. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypedDict, TypeVar

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


class _Hits(TypedDict, total=False):
    total: Json
    hits: list[Hit]


class Answer(TypedDict, total=False):
    """The parts of a search answer that we read."""

    timed_out: bool
    _shards: Json
    hits: _Hits
    aggregations: Json
    status: int
    error: Any


class _MultiSearchAnswer(TypedDict, total=False):
    responses: list[Answer]


@dataclass(frozen=True, kw_only=True)
class StoredItem:
    """An item of the index: its JSON as answers show it, its price in minor units if it has one, the digest of both,
    whether it is marked as bound, when it was last changed (microseconds since 1970) and when its index was made.
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
    ) -> list[Answer]:
        """The complete answers to several search bodies, in one round trip."""

    async def search_pit(self, body: Json, products: Products) -> Answer:
        """The complete answer to a search body that names a point in time, whose products are there."""


class Source(Protocol):
    """What is searched: the indices of some platforms, or a point in time of them."""

    async def search_all(self, bodies: Sequence[Json], *filter_path: str) -> list[Answer]:
        """The complete answers to several search bodies."""


class BadAnswerError(ApiError):
    """An answer that cannot be used: incomplete, or not one of a search engine."""

    def __init__(self, event: str, message: str = "", **facts: Any) -> None:
        super().__init__("search_unavailable", message)
        self.event = event
        self.facts = facts


Decoded = TypeVar("Decoded")

_answer = msgspec.json.Decoder(Answer)
_multi_search = msgspec.json.Decoder(_MultiSearchAnswer)
_json = msgspec.json.Decoder(Json)


def read_answer(content: bytes) -> Answer:
    """Decodes the answer to a search; raises BadAnswerError."""
    return decoded(_answer, content)


def read_complete_answer(content: bytes) -> Answer:
    """Decodes the answer to a search that every shard gave its part of in time; raises BadAnswerError."""
    return all_shards_of(read_answer(content))


def read_multi_search(content: bytes) -> list[Answer]:
    """Decodes the answers to a multi-search; raises BadAnswerError."""
    return decoded(_multi_search, content).get("responses", [])


def read_json(content: bytes) -> Json:
    """Decodes any other answer; raises BadAnswerError."""
    return decoded(_json, content)


def decoded(decoder: msgspec.json.Decoder[Decoded], content: bytes) -> Decoded:
    """What a decoder makes of an answer; raises BadAnswerError."""
    try:
        return decoder.decode(content)
    except ValueError as error:  # not JSON, or JSON of another shape
        event = "what answers is no search engine; see GEAR_OPENSEARCH_URL"
        raise BadAnswerError(event, answer=str(content[:100], errors="replace")) from error


def all_shards_of(answer: Answer) -> Answer:
    """The same answer if every shard gave its part in time; raises BadAnswerError."""
    shards = answer.get("_shards", {})
    if answer.get("timed_out") or shards.get("failed") or not shards.get("total"):
        raise partial_answer(shards=shards, timedOut=answer.get("timed_out"))
    return answer


def partial_answer(**facts: Any) -> BadAnswerError:
    """The error for an answer that lacks something; `facts` are for the log."""
    return BadAnswerError("partial answer of the engine", "the search engine gave only a part of the answer", **facts)


def total_of(answer: Answer) -> int:
    """The exact number of hits."""
    total: int = answer["hits"]["total"]["value"]
    return total


def hits_of(answer: Answer) -> list[Hit]:
    """The hits of the page; the engine leaves the key out where there are none."""
    return answer["hits"].get("hits", [])


def item_of(hit: Hit) -> Gear:
    """The item of a hit, as it was loaded."""
    return Gear(hit["item"])
