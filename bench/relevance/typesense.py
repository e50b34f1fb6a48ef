"""Typesense as a peer: a server with the items, searched with its defaults."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from bench.clients.connection import request_bytes, request_json
from bench.peers import services
from bench.peers.services import Service
from bench.relevance.judged import Item

KEY = "bench"
# The fields that a text is searched in, the first counts most: all that the judgments are about.
FIELDS = ("name", "type", "weapon", "exterior", "quality", "phase", "tournament", "rarity")


@dataclass(frozen=True)
class Typesense:
    """A running server with the items in the collection `gear`."""

    service: Service
    name: str
    page: int

    def first_page(self, query: str) -> list[Item]:
        """The first page; typos, prefixes and dropped words are handled as the server does by default."""
        parameters = urlencode({"q": query, "query_by": ",".join(FIELDS), "per_page": self.page})
        url = f"{self.service.address}/collections/gear/documents/search?{parameters}"
        response = request_json("GET", url, headers=self.service.headers)
        return [json.loads(hit["document"]["item"]) for hit in response["hits"]]


@contextmanager
def start_typesense(program: Path, items: Sequence[Item], name: str, page: int) -> Iterator[Typesense]:
    """Starts the server and loads the items."""
    with services.typesense(program, KEY) as service:
        fields: list[dict[str, str | bool]] = [{"name": "name", "type": "string"}]
        fields += [{"name": field, "type": "string", "optional": True} for field in FIELDS[1:]]
        collection = {"name": "gear", "fields": fields}
        request_json("POST", f"{service.address}/collections", collection, service.headers)
        documents = "\n".join(json.dumps(_document(item)) for item in items).encode()
        url = f"{service.address}/collections/gear/documents/import"
        response = request_bytes("POST", url, documents, service.headers)
        if b'"success":false' in response:
            message = f"Typesense did not take all items: {response[:300]!r}"
            raise RuntimeError(message)
        yield Typesense(service, name, page)


def _document(item: Item) -> dict[str, str]:
    details = {field: item["details"][field] for field in FIELDS[1:] if item["details"][field] is not None}
    return {"id": str(item["id"]), "name": item["name"], "item": json.dumps(item), **details}
