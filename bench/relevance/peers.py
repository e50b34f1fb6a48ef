"""The peers: the same listings in; whoever answers a text with its first page, by its own defaults, out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from opensearchpy import OpenSearch

from bench import data
from bench.peers import plain, services
from bench.relevance import typesense
from bench.relevance.judged import Item

OURS, MATCH, FUZZY, TYPESENSE = "gear-api", "OpenSearch match", "OpenSearch match, fuzzy", "Typesense"
PAGE = 20


class Peer(Protocol):
    """Who is asked."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    def answer(self, query: str) -> list[Item]:
        """The items of the first page."""


@dataclass(frozen=True)
class Service:
    """This project's service."""

    connection: HTTPConnection
    headers: Mapping[str, str]
    name: str = OURS

    def answer(self, query: str) -> list[Item]:
        """As a buyer asks: the text and nothing else."""
        body = json.dumps({"query": query, "limit": PAGE})
        self.connection.request("POST", "/v1/gear/search", body, dict(self.headers))
        with self.connection.getresponse() as answer:
            told = answer.read()
        if answer.status != 200:
            message = f"{query!r} is answered {answer.status}: {told[:300]!r}"
            raise RuntimeError(message)
        found: list[Item] = json.loads(told)["gear"]
        return found


@dataclass(frozen=True)
class Match:
    """The engine by one `match` on the name, every word wanted; `more` are further options of it."""

    client: OpenSearch
    index: str
    name: str
    more: Mapping[str, Any]

    def answer(self, query: str) -> list[Item]:
        """By the engine's own relevance."""
        clause = {"match": {"name": {"query": query, "operator": "and", **self.more}}}
        found = self.client.search(index=self.index, body={"query": clause, "size": PAGE})
        return [hit["_source"] for hit in found["hits"]["hits"]]


@contextmanager
def asked(
    items: Sequence[Item], opensearch_url: str, prefix: str, folder: Path, typesense_server: Path | None
) -> Iterator[list[Peer]]:
    """All peers with the items, started; Typesense where its server's program is given."""
    file = folder / "relevance.ndjson"
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    data.load_fresh(file, opensearch_url, prefix, folder)
    client, index = plain.client_of(opensearch_url), f"{prefix}-plain"
    plain.load(client, index, items)
    with ExitStack() as stack:
        ours = stack.enter_context(services.gear_api(opensearch_url, prefix, folder))
        found: list[Peer] = [
            Service(HTTPConnection(urlsplit(ours.address).netloc), ours.headers),
            Match(client, index, MATCH, {}),
            Match(client, index, FUZZY, {"fuzziness": "AUTO"}),
        ]
        if typesense_server is not None:
            found.append(stack.enter_context(typesense.peer(typesense_server, items, TYPESENSE, PAGE)))
        yield found
