"""The peers of the relevance benchmark: each has the same listings and answers a text by its own defaults."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from opensearchpy import OpenSearch

from bench.clients.connection import request_json
from bench.data import load_file
from bench.peers import plain, services
from bench.peers.services import Service
from bench.relevance.judged import Item

OURS, MATCH, FUZZY = "gear-api", "OpenSearch match", "OpenSearch match, fuzzy"
PAGE = 20


class Peer(Protocol):
    """A service or engine that answers texts."""

    @property
    def name(self) -> str:
        """Its name in the table."""

    def first_page(self, query: str) -> list[Item]:
        """The items of the first page."""


@dataclass(frozen=True)
class GearApi:
    """This project's service."""

    service: Service
    name: str = OURS

    def first_page(self, query: str) -> list[Item]:
        """The text and nothing else, as a buyer sends it."""
        body = {"query": query, "limit": PAGE}
        url = f"{self.service.address}/v1/gear/search"
        items: list[Item] = request_json("POST", url, body, self.service.headers)["gear"]
        return items


@dataclass(frozen=True)
class Match:
    """The engine by one `match` on the name that requires every word, with further options."""

    client: OpenSearch
    index: str
    name: str
    options: Mapping[str, Any]

    def first_page(self, query: str) -> list[Item]:
        """By the engine's own relevance."""
        clause = {"match": {"name": {"query": query, "operator": "and", **self.options}}}
        response = self.client.search(index=self.index, body={"query": clause, "size": PAGE})
        return [hit["_source"] for hit in response["hits"]["hits"]]


@contextmanager
def start_peers(items: Sequence[Item], opensearch_url: str, prefix: str, folder: Path) -> Iterator[list[Peer]]:
    """Starts all peers with the items."""
    file = folder / "relevance.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    load_file(file, opensearch_url, prefix, folder)
    client, index = plain.client_of(opensearch_url), f"{prefix}-plain"
    plain.load(client, index, items)
    with services.gear_api(opensearch_url, prefix, folder) as service:
        yield [
            GearApi(service),
            Match(client, index, MATCH, {}),
            Match(client, index, FUZZY, {"fuzziness": "AUTO"}),
        ]
