"""The peers of the relevance benchmark: each has the same listings and answers a text by its own defaults."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from bench.clients.connection import request_json
from bench.peers import plain, services
from bench.peers.data import load_file
from bench.peers.search_peers import SEARCH_PATH
from bench.peers.services import Service
from bench.relevance.judged import Item

PAGE = 20


FirstPage = Callable[[str], list[Item]]
"""Answers a text with the items of the first page."""


@contextmanager
def start_peers(
    items: Sequence[Item], opensearch_url: str, prefix: str, folder: Path
) -> Iterator[Mapping[str, FirstPage]]:
    """Starts all peers with the items; yields them by their names in the table."""
    file = folder / "relevance.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    load_file(file, opensearch_url, prefix, folder)
    client, index = plain.client_of(opensearch_url), f"{prefix}-plain"
    plain.load(client, index, items)
    with services.gear_api(opensearch_url, prefix, folder) as service:
        yield {
            "gear-api": partial(_search, service),
            "OpenSearch match": partial(_match, client, index, {}),
            "OpenSearch match, fuzzy": partial(_match, client, index, {"fuzziness": "AUTO"}),
        }


def _search(service: Service, query: str) -> list[Item]:
    """By this project's service: the text and nothing else, as a buyer sends it."""
    body = {"query": query, "limit": PAGE}
    items: list[Item] = request_json("POST", service.address + SEARCH_PATH, body, service.headers)["gear"]
    return items


def _match(client: OpenSearch, index: str, options: Mapping[str, Any], query: str) -> list[Item]:
    """By the engine's own relevance: one `match` on the name that requires every word, with further options."""
    clause = {"match": {"name": {"query": query, "operator": "and", **options}}}
    response = client.search(index=index, body={"query": clause, "size": PAGE})
    return [hit["_source"] for hit in response["hits"]["hits"]]
