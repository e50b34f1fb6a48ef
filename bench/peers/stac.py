"""The independent peer, stac-fastapi.opensearch: items in; its collection, loaded in the shape that it stores, and the
searches that ask it for the same, out.

It is another team's FastAPI service on OpenSearch, installed in an environment of its own: a catalogue of items that
have properties, an index of its own definition, filters, sorts, and pages with an exact number. The collection is made
by its own API, so that the index is as it defines it; the items go in by the bulk that its own loader uses.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from opensearchpy import OpenSearch
from opensearchpy.helpers import parallel_bulk

from bench.peers.plain import DETAILS

Json = dict[str, Any]

COLLECTION = "gear"
_STAMP = "2026-01-01T00:00:00Z"  # when an item was stored, which it keeps too
_SORTS = {"price_asc": "asc", "price_desc": "desc"}
_BOUNDS = {"min": ">=", "max": "<="}


@dataclass(frozen=True)
class Names:
    """What the peer's indices are called, so that they are nobody else's: one service for each number of items."""

    prefix: str

    @property
    def collections(self) -> str:
        """Its index of collections."""
        return f"{self.prefix}-collections"

    @property
    def items(self) -> str:
        """The alias that it gives the index of the one collection's items."""
        return f"{self.items_prefix}{COLLECTION}"

    @property
    def items_prefix(self) -> str:
        """What the names of its indices of items begin with."""
        return f"{self.prefix}-items-"


def create(address: str, client: OpenSearch, names: Names) -> None:
    """Makes the empty collection by the peer's own API, in the place of an older one."""
    known = json.loads(_asked("GET", f"{address}/collections"))
    if known["collections"]:
        _asked("DELETE", f"{address}/collections/{COLLECTION}")
        client.indices.refresh(index=names.collections)
    extent = {"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [["2020-01-01T00:00:00Z", None]]}}
    made = {
        "type": "Collection",
        "stac_version": "1.0.0",
        "id": COLLECTION,
        "description": "gear on offer",
        "license": "other",
        "extent": extent,
        "links": [],
    }
    _asked("POST", f"{address}/collections", made)


def load(client: OpenSearch, names: Names, items: Iterable[Json], threads: int = 2) -> int:
    """Fills the collection with `parallel_bulk` and refreshes it; how many items."""

    def actions() -> Iterator[Json]:
        for item in items:
            stored = stored_of(item)
            key = f"{stored['id']}|{COLLECTION}"
            yield {"_op_type": "create", "_index": names.items, "_id": key, "_source": stored}

    count = sum(1 for done, _ in parallel_bulk(client, actions(), thread_count=threads) if done)
    client.indices.refresh(index=names.items)
    return count


def stored_of(item: Json) -> Json:
    """A listing as the peer stores one of its items: what describes it in `properties`, its picture as an asset."""
    own = {name: item[name] for name in ("name", "price", "inspectLink", "description")}
    told = {**own, **item["details"], **{f"paint_{name}": value for name, value in item["paint"].items()}}
    assets = {} if item["image"] is None else {"thumbnail": {"href": item["image"], "roles": ["thumbnail"]}}
    return {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": str(item["id"]),
        "collection": COLLECTION,
        "geometry": None,
        "properties": {
            "datetime": item["listedAt"],
            **{property_of(name): value for name, value in told.items() if value is not None},
            property_of("attachments"): item["attachments"],
            "created": _STAMP,
            "updated": _STAMP,
        },
        "links": [],
        "assets": assets,
    }


def property_of(name: str) -> str:
    """A field of ours as one of an extension, which is how STAC keeps names like `type` apart from its own."""
    return f"gear:{name}"


def query_of(body: Json) -> Json:
    """A search body of ours, said to the peer by its Filter (CQL2) and Sort extensions; always the first page, because
    its others are reached by tokens alone.

    Raises ValueError for what it has no equal of.
    """
    asked = dict(body.get("filters") or {})
    price = asked.pop("price", {})
    unknown = asked.keys() - set(DETAILS)
    if unknown or body.get("query") or body.get("sort") not in _SORTS:
        message = f"the peer is not asked for {sorted(unknown)}, texts, or the sort {body.get('sort')}"
        raise ValueError(message)
    clauses = [
        {"op": _BOUNDS[end], "args": [{"property": property_of("price")}, bound]} for end, bound in price.items()
    ]
    clauses += [{"op": "in", "args": [{"property": property_of(name)}, values]} for name, values in asked.items()]
    price_field = f"properties.{property_of('price')}"
    sort = [{"field": price_field, "direction": _SORTS[body["sort"]]}, {"field": "id", "direction": "asc"}]
    query = clauses[0] if len(clauses) == 1 else {"op": "and", "args": clauses}
    return {
        "collections": [COLLECTION],
        "filter-lang": "cql2-json",
        "filter": query,
        "sortby": sort,
        "limit": body.get("limit", 20),
    }


def settings(opensearch_url: str, names: Names) -> dict[str, str]:
    """What the peer's process reads: where the engine is, and its names."""
    parts = urlsplit(opensearch_url)
    return {
        "ES_HOST": parts.hostname or "",
        "ES_PORT": str(parts.port),
        "ES_USE_SSL": "false",
        "STAC_COLLECTIONS_INDEX": names.collections,
        "STAC_ITEMS_INDEX_PREFIX": names.items_prefix,
    }


def _asked(method: str, address: str, body: Json | None = None) -> bytes:
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(address, content, {"Content-Type": "application/json"}, method=method), timeout=60) as answer:
        told: bytes = answer.read()
    return told
