"""The independent peer, stac-fastapi.opensearch: its collection, its documents, and its form of our searches.

It is another team's FastAPI service on OpenSearch, installed in an environment of its own: a catalogue of items that
have properties, an index of its own definition, filters, sorts, and pages with an exact total. The collection is
created by its API, so that the index is as it defines it. The items are loaded as its own loader does, in bulk.
"""

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opensearchpy import OpenSearch
from opensearchpy.helpers import parallel_bulk

from bench.clients.connection import request_json
from bench.peers.plain import DETAILS

Json = dict[str, Any]

COLLECTION = "gear"
_STORED_AT = "2026-01-01T00:00:00Z"
_SORTS = {"price_asc": "asc", "price_desc": "desc"}
_BOUNDS = {"min": ">=", "max": "<="}


@dataclass(frozen=True)
class Names:
    """The names of the peer's indices, which differ for each number of items."""

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
    """Creates the empty collection by the peer's own API, in the place of an older one."""
    if request_json("GET", f"{address}/collections")["collections"]:
        request_json("DELETE", f"{address}/collections/{COLLECTION}")
        client.indices.refresh(index=names.collections)
    extent = {"spatial": {"bbox": [[-180, -90, 180, 90]]}, "temporal": {"interval": [["2020-01-01T00:00:00Z", None]]}}
    collection = {
        "type": "Collection",
        "stac_version": "1.0.0",
        "id": COLLECTION,
        "description": "gear on offer",
        "license": "other",
        "extent": extent,
        "links": [],
    }
    request_json("POST", f"{address}/collections", collection)


def load(client: OpenSearch, names: Names, items: Iterable[Json], threads: int = 2) -> int:
    """Fills the collection with `parallel_bulk` and refreshes it; returns how many items."""

    def actions() -> Iterator[Json]:
        for item in items:
            stored = document_of(item)
            key = f"{stored['id']}|{COLLECTION}"
            yield {"_op_type": "create", "_index": names.items, "_id": key, "_source": stored}

    count = sum(1 for succeeded, _ in parallel_bulk(client, actions(), thread_count=threads) if succeeded)
    client.indices.refresh(index=names.items)
    return count


def document_of(item: Json) -> Json:
    """A listing as the peer stores its items: described by `properties`, its picture an asset."""
    fields = {name: item[name] for name in ("name", "price", "inspectLink", "description")}
    properties = {**fields, **item["details"], **{f"paint_{name}": value for name, value in item["paint"].items()}}
    assets = {} if item["image"] is None else {"thumbnail": {"href": item["image"], "roles": ["thumbnail"]}}
    return {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": str(item["id"]),
        "collection": COLLECTION,
        "geometry": None,
        "properties": {
            "datetime": item["listedAt"],
            **{property_of(name): value for name, value in properties.items() if value is not None},
            property_of("attachments"): item["attachments"],
            "created": _STORED_AT,
            "updated": _STORED_AT,
        },
        "links": [],
        "assets": assets,
    }


def property_of(name: str) -> str:
    """The name of a property: a prefix, as extensions of STAC have it, keeps `type` apart from STAC's own."""
    return f"gear:{name}"


def query_of(body: Json) -> Json:
    """A search body of ours in the peer's Filter (CQL2) and Sort extensions.

    It is always the first page, because others need a token. Raises ValueError for what the peer does not offer.
    """
    filters = dict(body.get("filters") or {})
    price = filters.pop("price", {})
    unknown = filters.keys() - set(DETAILS)
    if unknown or body.get("query") or body.get("sort") not in _SORTS:
        message = f"the peer does not offer {sorted(unknown)}, texts, or the sort {body.get('sort')}"
        raise ValueError(message)
    clauses = [
        {"op": _BOUNDS[end], "args": [{"property": property_of("price")}, bound]} for end, bound in price.items()
    ]
    clauses += [{"op": "in", "args": [{"property": property_of(name)}, values]} for name, values in filters.items()]
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
    """The settings of the peer's process: the engine and its names."""
    parts = urlsplit(opensearch_url)
    return {
        "ES_HOST": parts.hostname or "",
        "ES_PORT": str(parts.port),
        "ES_USE_SSL": "false",
        "STAC_COLLECTIONS_INDEX": names.collections,
        "STAC_ITEMS_INDEX_PREFIX": names.items_prefix,
    }


def version_of(python: Path) -> str:
    """The version of the peer that an environment has."""
    script = "from importlib.metadata import version; print(version('stac-fastapi-opensearch'))"
    return subprocess.run([str(python), "-c", script], check=True, capture_output=True, text=True).stdout.strip()
