"""The plain peer: an index and a FastAPI service over it, as most teams would write them.

It follows tutorials and the libraries' own pages: `scaled_float` prices, nested attachments,
one `_search` with `track_total_hits`, `parallel_bulk`, AsyncOpenSearch, a response model; nothing is slow on purpose.
"""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from fastapi import FastAPI, Request
from opensearchpy import AsyncOpenSearch, OpenSearch
from opensearchpy.helpers import parallel_bulk
from pydantic import BaseModel
from pydantic_settings import BaseSettings, SettingsConfigDict

Json = dict[str, Any]

DETAILS = ("type", "weapon", "set", "quality", "rarity", "exterior", "phase", "tournament", "color")
MAX_FACET_VALUES = 500  # of a facet: as many as this project's service answers
_WORD: Json = {"type": "keyword"}
INDEX: Json = {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0},
    "mappings": {
        "properties": {
            "id": {"type": "long"},
            "name": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
            "price": {"type": "scaled_float", "scaling_factor": 100},
            "image": {"type": "keyword", "index": False},
            "inspectLink": {"type": "keyword", "index": False},
            "description": {"type": "text"},
            "listedAt": {"type": "date"},
            "details": {"properties": dict.fromkeys(DETAILS, _WORD)},
            "paint": {
                "properties": {
                    "float": {"type": "float"},
                    "seed": {"type": "integer"},
                    "index": {"type": "integer"},
                    "pattern": {"type": "integer"},
                }
            },
            "attachments": {
                "type": "nested",
                "properties": {
                    "id": {"type": "integer"},
                    "name": _WORD,
                    "wear": {"type": "float"},
                    "type": _WORD,
                    "image": {"type": "keyword", "index": False},
                },
            },
        }
    },
}
# The ranges of a facet of numbers: its field, and the edges between them.
_RANGES: dict[str, tuple[str, list[float]]] = {
    "price": ("price", [0, *(step * 10**power for power in range(-2, 6) for step in (1, 2, 5))]),
    "float": ("paint.float", [step / 100 for step in range(101)]),
}
_SORTS: dict[str, list[Json]] = {
    "price_asc": [{"price": "asc"}, {"id": "asc"}],
    "price_desc": [{"price": "desc"}, {"id": "asc"}],
}


def client_of(url: str) -> OpenSearch:
    """The library's client as it comes: `parallel_bulk` wants a serializer of texts, this project's writes bytes."""
    return OpenSearch(url, timeout=600)


def load(client: OpenSearch, index: str, items: Iterable[Json]) -> None:
    """Fills a new index with `parallel_bulk`."""
    client.indices.delete(index=index, params={"ignore_unavailable": "true"})
    client.indices.create(index=index, body=INDEX)

    def actions() -> Iterator[Json]:
        for item in items:
            yield {"_index": index, "_id": item["id"], "_source": item}

    for _ in parallel_bulk(client, actions(), thread_count=2):
        pass  # it raises where a document was not taken
    client.indices.refresh(index=index)


def query_of(body: Json) -> Json:
    """The engine's request for a search body, as one writes it by hand."""
    filters: dict[str, Json] = {}
    wanted = body.get("filters") or {}
    if "price" in wanted:
        price = {"gte": wanted["price"].get("min"), "lte": wanted["price"].get("max")}
        filters["price"] = {"range": {"price": {name: bound for name, bound in price.items() if bound is not None}}}
    filters |= {name: {"terms": {f"details.{name}": values}} for name, values in wanted.items() if name != "price"}
    facets = body.get("facets") or []
    query: Json = {"bool": {"filter": [clause for name, clause in filters.items() if name not in facets]}}
    if body.get("query"):
        query["bool"]["must"] = [{"match": {"name": {"query": body["query"], "operator": "and"}}}]
    limit, page = body.get("limit", 20), body.get("page", 1)
    request: Json = {"query": query, "from": (page - 1) * limit, "size": limit, "track_total_hits": True}
    sort = _SORTS.get(body.get("sort") or ("" if body.get("query") else "price_asc"))
    if sort is not None:
        request["sort"] = sort
    if facets:
        request |= _facet_counts(facets, {name: clause for name, clause in filters.items() if name in facets})
    return request


def _facet_counts(facets: list[str], selections: dict[str, Json]) -> Json:
    """Disjunctive counts by one request: an aggregation a facet, inside the selections of the other facets; those
    narrow the page, and with it the total, by `post_filter`.
    """
    counts: Json = {}
    for facet in facets:
        others = [clause for name, clause in selections.items() if name != facet]
        values: Json = {"terms": {"field": f"details.{facet}", "size": MAX_FACET_VALUES}}
        if facet in _RANGES:
            field, edges = _RANGES[facet]
            values = {"range": {"field": field, "ranges": [{"from": low, "to": high} for low, high in pairwise(edges)]}}
        counts[facet] = {"filter": {"bool": {"filter": others}}, "aggs": {"values": values}}
    return {"aggs": counts, "post_filter": {"bool": {"filter": list(selections.values())}}}


def counts_of(response: Json) -> Json:
    """Items by value or range by facet, as the engine answers a request that counts."""
    return {
        facet: {str(bucket["key"]): bucket["doc_count"] for bucket in counted["values"]["buckets"]}
        for facet, counted in response.get("aggregations", {}).items()
    }


class Settings(BaseSettings):
    """Where the plain service finds its index."""

    model_config = SettingsConfigDict(env_prefix="BENCH_PLAIN_")

    opensearch_url: str = "http://127.0.0.1:9200"
    index: str = "bench-plain"


class SearchResponse(BaseModel):
    """One page, the total, and what was counted."""

    status: str
    gear: list["Item"]
    total: int
    facets: dict[str, dict[str, int]] = {}


class Details(BaseModel):
    """What an item is."""

    type: str | None
    weapon: str | None
    set: str | None
    quality: str | None
    rarity: str | None
    exterior: str | None
    phase: str | None
    tournament: str | None
    color: str | None


class Paint(BaseModel):
    """How an item is painted."""

    float: float | None
    seed: int | None
    index: int | None
    pattern: int | None


class Attachment(BaseModel):
    """What is stuck on an item."""

    id: int | None
    name: str
    wear: float | None
    type: str | None
    image: str | None


class Item(BaseModel):
    """One item."""

    id: int
    name: str
    price: float | None
    image: str | None
    inspectLink: str | None  # noqa: N815  # the response's own spelling, as plain services do it
    description: str | None
    details: Details
    paint: Paint
    attachments: list[Attachment]


class Body(BaseModel):
    """A search body."""

    platform: int | None = None
    query: str = ""
    filters: Json | None = None
    facets: list[str] = []
    limit: int = 20
    page: int = 1
    sort: str | None = None


def create_app() -> FastAPI:
    """The plain service."""
    settings = Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.client = AsyncOpenSearch(settings.opensearch_url)
        yield
        await app.state.client.close()

    app = FastAPI(lifespan=lifespan)

    @app.post("/v1/gear/search", response_model=SearchResponse)
    async def search(body: Body, request: Request) -> Json:
        query = query_of(body.model_dump(exclude_none=True))
        response = await request.app.state.client.search(index=settings.index, body=query)
        gear = [hit["_source"] for hit in response["hits"]["hits"]]
        total = response["hits"]["total"]["value"]
        return {"status": "success", "gear": gear, "total": total, "facets": counts_of(response)}

    return app
