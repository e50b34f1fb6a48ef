"""The proof: what was read and accepted, and an index, in; whether the index holds exactly that, with the numbers, out.

Counted and summed are the documents that the load wrote (their version is the load's). Those that were changed or
deleted live since are left out on both sides. Nothing is read back but the ids of these.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError
from pyroaring import BitMap64

from indexer.documents.digest import PARTS, Checksum
from indexer.engine.failures import CommandError
from indexer.engine.generations import deletes_index
from indexer.engine.retry import Patience
from indexer.loading.manifest import Expected, key_of

PAGE = 1000
KEEP_ALIVE = "5m"  # between two questions to one point in time
TRIES = 3  # a point in time is lost with a restart of the engine
_SUMS = {part: {"sum": {"field": f"digest.{part}"}} for part in PARTS}


@dataclass(frozen=True)
class Proof:
    """Both sides, and what was left out of them: ids that were changed or deleted live since the load began."""

    expected: Checksum
    found: Checksum
    strangers: int  # documents that neither the load nor a later live change wrote
    live: int
    deleted: int

    @property
    def agrees(self) -> bool:
        """Whether the index holds what was read, and nothing else."""
        return self.expected == self.found and not self.strangers

    def as_json(self) -> dict[str, Any]:
        """Both counts and digests, and what was changed meanwhile."""
        return {
            "agrees": self.agrees,
            "expected": {"items": self.expected.items, "digest": self.expected.digest()},
            "found": {"items": self.found.items, "digest": self.found.digest()},
            "strangers": self.strangers,
            "changedLive": self.live,
            "deletedLive": self.deleted,
        }

    def disagreement(self, index: str) -> str:
        """The sentence for a proof that fails."""
        return (
            f"{index} does not hold what was read, nothing is swapped in: it has {self.found.items:,} items of this "
            f"load with digest {self.found.digest()} where {self.expected.items:,} with {self.expected.digest()} were "
            f"acknowledged, and {self.strangers:,} that nobody loaded; load again, and see what else writes to it"
        )


def prove(client: OpenSearch, index: str, version: int, expected: Expected, patience: Patience) -> Proof:
    """Compares an index with what its load read; call it when all was acknowledged.

    The index is held still first and the recorded deletes are read after it: a delete is recorded before it is done,
    so each one that the index shows is among them, and no live change can make the two sides differ.
    """
    for left in reversed(range(TRIES)):
        try:
            return _Engine(client, patience).proof(index, version, expected)
        except NotFoundError as error:
            if not left:
                message = f"the engine lost its point in time of {index} {TRIES} times, is it restarting? load again"
                raise CommandError(message) from error
    raise AssertionError  # the last try returned or raised


class _Engine:
    """Questions to points in time."""

    def __init__(self, client: OpenSearch, patience: Patience) -> None:
        self._client = client
        self._patience = patience

    def proof(self, index: str, version: int, expected: Expected) -> Proof:
        is_loaded = {"term": {"version": version}}
        is_later = {"range": {"version": {"gt": version}}}
        with self._held(index) as point, self._held(deletes_index(index)) as beside:
            loaded = self._summed(point, is_loaded)
            strangers = self._count(point, {"match_all": {}}) - loaded.items - self._count(point, is_later)
            live = BitMap64(key_of(number) for page in self._ids(point, is_later) for number in page)
            deleted = BitMap64()
            for page in self._ids(beside, is_later):
                deleted.update(key_of(number) for number in page)
                # Recorded and not yet done when the index was held still: not counted on this side either.
                still_there = {"bool": {"filter": [is_loaded, {"terms": {"id": page}}]}}
                loaded = loaded.without(self._summed(point, still_there))
        return Proof(expected.sums(without=live | deleted), loaded, strangers, len(live), len(deleted))

    @contextmanager
    def _held(self, index: str) -> Iterator[str]:
        """A point in time of an index, everything written so far in it."""
        self._patience.call(lambda: self._client.indices.refresh(index=index))
        params = {"keep_alive": KEEP_ALIVE, "allow_partial_pit_creation": "false"}
        point: str = self._patience.call(lambda: self._client.create_pit(index=index, params=params))["pit_id"]
        try:
            yield point
        finally:
            # one that is lost already is nothing to do
            self._patience.call(lambda: self._client.delete_pit(body={"pit_id": [point]}, params={"ignore": 404}))

    def _ask(self, point: str, body: dict[str, Any]) -> dict[str, Any]:
        whole = {**body, "pit": {"id": point, "keep_alive": KEEP_ALIVE}}
        params = {"allow_partial_search_results": "false"}
        answer: dict[str, Any] = self._patience.call(partial(self._client.search, body=whole, params=params))
        return answer

    def _count(self, point: str, query: dict[str, Any]) -> int:
        body = {"query": query, "size": 0, "track_total_hits": True}
        return int(self._ask(point, body)["hits"]["total"]["value"])

    def _summed(self, point: str, query: dict[str, Any]) -> Checksum:
        body = {"query": query, "size": 0, "track_total_hits": True, "aggs": _SUMS}
        answer = self._ask(point, body)
        parts = [int(answer["aggregations"][part]["value"]) for part in PARTS]
        return Checksum(int(answer["hits"]["total"]["value"]), parts)

    def _ids(self, point: str, query: dict[str, Any]) -> Iterator[list[int]]:
        """The ids of what a query finds, ascending, in pages."""
        body: dict[str, Any] = {
            "query": query,
            "sort": ["id"],
            "size": PAGE,
            "_source": False,
            "track_total_hits": False,
        }
        while hits := self._ask(point, body)["hits"]["hits"]:
            yield [int(hit["_id"]) for hit in hits]
            body = {**body, "search_after": hits[-1]["sort"]}
