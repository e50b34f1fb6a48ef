"""Remembered deletes: ids deleted while an index is being filled in, those ids out once it is filled.

The engine forgets a deleted document's version after `index.gc_deletes`, and at a restart; an item that the load sends
after that would come back. So each delete is also a document {id, version} of an index beside the one that is filled,
`<index>-deletes`, from the load's start to its end.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from indexer.engine.bulk import post
from indexer.engine.failures import CommandError
from indexer.engine.generations import deletes_index, loading_alias
from indexer.engine.results import Outcome, outcome_of, send_all
from indexer.engine.retry import Patience

PAGE = 1000
_BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "id": {"type": "long"},
            "version": {"type": "long"},
            "checkpoint": {"type": "object", "enabled": False},  # see indexer/loading/checkpoint.py; read by id only
        },
    },
}


def delete_line(number: int, version: int) -> bytes:
    """The line of a bulk request that deletes an item unless it was changed later than `version`."""
    return b'{"delete":{"_id":"%d","version":%d,"version_type":"external_gte"}}\n' % (number, version)


# With external versions a delete makes a missing index, and `require_alias` does not hold for deletes. An update that
# changes nothing has it held for the whole request; no item has this id.
GUARD = b'{"update":{"_id":"none"}}\n{"doc":{}}\n'


class Deletes:
    """The deletes that were recorded for one index that is being filled."""

    def __init__(self, client: OpenSearch, index: str, patience: Patience) -> None:
        self._client = client
        self._filled = index
        self._index = deletes_index(index)
        self._patience = patience

    def create(self) -> None:
        """Makes the index; before the one that is filled, so that whoever sees that finds this one too."""
        body = {**_BODY, "aliases": {loading_alias(self._index): {}}}
        self._client.indices.create(index=self._index, body=body)

    def remove(self) -> None:
        """Removes the index; it may be gone already."""

        def once() -> None:
            try:
                self._client.indices.delete(index=self._index)
            except NotFoundError:  # a lost answer, or somebody else was faster
                return

        self._patience.call(once)

    def apply(self, version: int) -> int:
        """Deletes in the filled index what was deleted after `version`, the load's start; returns how many ids.

        Also removes what was changed before the load's start, which a delayed change may have left there: the
        source is newer, and does not have it.
        """
        self._refresh(self._index, self._filled)
        recorded = 0
        for page in self._pages(self._index, {"range": {"version": {"gt": version}}}):
            recorded += len(page)
            self._delete([(hit["_source"]["id"], hit["_source"]["version"]) for hit in page])
        older = {"bool": {"filter": [{"exists": {"field": "version"}}, {"range": {"version": {"lt": version}}}]}}
        for page in self._pages(self._filled, older):
            self._delete([(int(hit["_id"]), version) for hit in page])
        self._refresh(self._filled)
        return recorded

    def _refresh(self, *indices: str) -> None:
        self._patience.call(lambda: self._client.indices.refresh(index=",".join(indices)))

    def _pages(self, index: str, query: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
        body: dict[str, Any] = {"query": query, "sort": ["id"], "size": PAGE, "_source": ["id", "version"]}
        params = {"allow_partial_search_results": "false"}
        while True:
            ask = partial(self._client.search, index=index, body=body, params=params)
            hits: list[dict[str, Any]] = self._patience.call(ask)["hits"]["hits"]
            if not hits:
                return
            yield hits
            body = {**body, "search_after": hits[-1]["sort"]}

    def _delete(self, deletes: list[tuple[int, int]]) -> None:
        def once(left: list[tuple[int, int]]) -> list[dict[str, Any]]:
            data = GUARD + b"".join(delete_line(number, version) for number, version in left)
            return post(self._client, loading_alias(self._filled), data, len(left) + 1)[1:]

        for (number, _), result in send_all(deletes, once, self._patience):
            if outcome_of(result) is Outcome.REFUSED:
                message = f"item {number} could not be deleted from {self._filled}: {result['error']['reason']}"
                raise CommandError(message)
