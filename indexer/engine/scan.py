"""Scans: everything that a query matches in an index, page by page, as of one point in time.

The one scan of this package. A partial response is an error, which is retried; the point in time is closed at the end.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from http import HTTPStatus
from itertools import islice
from typing import Any, TypeVar

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException, TransportError

from indexer.engine.retry import RetryPolicy
from indexer.errors import CommandError

PAGE_ITEMS = 1000
KEEP_ALIVE = "5m"  # between two requests
# Of a request that reads every document. A page of the products that 60,000 listings name took 0.15 s on two busy
# cores: more than the minute that other requests have for 30 million.
SECONDS_A_REQUEST = 60
DOCUMENTS_A_SECOND = 100_000
ATTEMPTS = 3
_NO_INDEX = "index_not_found_exception"

Result = TypeVar("Result")
Element = TypeVar("Element")
Json = dict[str, Any]


class PointInTimeLostError(CommandError):
    """The engine does not have the point in time any more, as after a restart."""


class Scan:
    """A context in which an index is read as of one point in time; with `refresh` it has every change until then."""

    def __init__(self, client: OpenSearch, index: str, retry: RetryPolicy, *, refresh: bool = False) -> None:
        self._refresh = refresh
        self._client = client
        self._index = index
        self._retry = retry
        self.id = ""

    def __enter__(self) -> "Scan":
        if self._refresh:
            self._retry.call(lambda: refresh(self._client, self._index))
        params = {"keep_alive": KEEP_ALIVE, "allow_partial_pit_creation": "false"}
        created: Json = self._retry.call(lambda: self._client.create_pit(index=self._index, params=params))
        self.id = created["pit_id"]
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OpenSearchException):  # tried once: the engine closes it in the end
            self._client.delete_pit(body={"pit_id": [self.id]})

    def search(self, body: Json, *, documents: int = 0) -> Json:
        """Runs one search on all shards, which has more time where it reads so many documents.

        Raises PointInTimeLostError, RetriesExhaustedError or the client's error.
        """
        request = {**body, "pit": {"id": self.id, "keep_alive": KEEP_ALIVE}}
        params: Json = {}
        if documents >= DOCUMENTS_A_SECOND:
            params["request_timeout"] = SECONDS_A_REQUEST + documents / DOCUMENTS_A_SECOND
        try:
            return self._retry.call(lambda: send_search(self._client, self._index, request, params))
        except NotFoundError as error:
            message = f"the engine lost its point in time of {self._index}, is it restarting? Try again"
            raise PointInTimeLostError(message) from error

    def count(self, query: Json) -> int:
        response = self.search({"query": query, "size": 0, "track_total_hits": True})
        return int(response["hits"]["total"]["value"])

    def pages(
        self, query: Json, *, source: list[str] | bool = False, sort: str = "id", page_items: int = PAGE_ITEMS
    ) -> Iterator[list[Json]]:
        """The hits in pages, by ascending id of the item, with these fields of `_source`, or all of it.

        Documents without an id are sorted by another field, in which no two are the same.
        """
        body: Json = {
            # Below `bool`: of a bare `match_all` sorted by a number, OpenSearch 3.6 counts deleted documents among the
            # size of a page, which then leaves out others.
            "query": {"bool": {"filter": [query]}},
            "sort": [sort],  # unique, so no item falls between two pages
            "size": page_items,
            "_source": source,
            "track_total_hits": False,
        }
        while hits := self.search(body)["hits"]["hits"]:
            yield hits
            if len(hits) < page_items:
                return
            body = {**body, "search_after": hits[-1]["sort"]}

    def ids(self, query: Json, *, page_items: int = PAGE_ITEMS) -> Iterator[int]:
        for page in self.pages(query, page_items=page_items):
            yield from (int(hit["_id"]) for hit in page)


def send_search(client: OpenSearch, index: str, body: Json, params: Json | None = None) -> Json:
    """The response of all shards to a search body, which may name a point in time of the index; raises as `complete`.

    Every search of this package is sent by this.
    """
    target = None if "pit" in body else index
    params = {**(params or {}), "allow_partial_search_results": "false"}
    return complete(index, client.search(index=target, body=body, params=params))


def complete(index: str, response: Any) -> Json:
    """A response of all shards; raises a TransportError that is retried where some are missing, or none is named."""
    parts: Json = response if isinstance(response, dict) else {}
    shards = parts.get("_shards", {})
    if not shards or shards["failed"] or shards["successful"] != shards["total"] or parts.get("timed_out"):
        raise _partial_response(f"not every part of {index} answered: {shards}")
    return parts


def refresh(client: OpenSearch, index: str, **params: str) -> None:
    """Makes what was written to an index visible to searches; raises a TransportError that is retried where that failed
    on a shard, or none is named. Copies that are not allocated are no failures.
    """
    response = client.indices.refresh(index=index, params=params)
    shards = response.get("_shards", {}) if isinstance(response, dict) else {}
    if not shards or shards["failed"]:
        raise _partial_response(f"not every part of {index} was refreshed: {shards}")


def _partial_response(message: str) -> TransportError:
    return TransportError(HTTPStatus.SERVICE_UNAVAILABLE, "partial_response", {"error": {"reason": message}})


def count_documents(client: OpenSearch, index: str, query: Json | None = None, **params: str) -> int:
    """How many documents of an index the query matches, of all where it is left out; of all shards, as `complete`."""
    body = None if query is None else {"query": query}
    return int(complete(index, client.count(index=index, body=body, params=params))["count"])


def read_items(client: OpenSearch, index: str, items: Iterable[int], field: str) -> dict[int, Json]:
    """This field of those of the items that the index has now, whether or not searches see them, by id."""
    body = {"ids": [str(item) for item in items]}
    documents = multi_get(client, body, index=index, params={"_source_includes": field})
    return {int(document["_id"]): document["_source"] for document in documents if document.get("found")}


def multi_get(client: OpenSearch, body: Json, **options: Any) -> list[Json]:
    """What a multi-get says of each document, also that it is missing, or its index.

    Raises a TransportError that is retried where one was not read, as while its shard is not started.
    """
    documents: list[Json] = client.mget(body=body, **options)["docs"]
    for document in documents:
        error = document.get("error")
        if error is not None and error["type"] != _NO_INDEX:
            raise TransportError(HTTPStatus.SERVICE_UNAVAILABLE, error["type"], error)
    return documents


def in_pages(elements: Iterable[Element], size: int) -> Iterator[list[Element]]:
    """The elements in lists of at most `size`."""
    rest = iter(elements)
    while page := list(islice(rest, size)):
        yield page


def retry_when_lost(action: Callable[[], Result]) -> Result:
    """Runs an action that reads a point in time, from its beginning again where the engine has lost that."""
    for _ in range(ATTEMPTS - 1):
        with suppress(PointInTimeLostError):
            return action()
    return action()
