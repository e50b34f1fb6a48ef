"""Tombstones: the ids that were deleted live and when, kept for two days in one small index of an alias.

The engine forgets a deleted document's version after `index.gc_deletes`, and at a restart. A change that is older than
the delete and arrives after that would bring the item back, as would an item that a load sends. So each live delete is
first recorded as a document {id, version, at}: `version` is its time, `at` when it was recorded. The checkpoint of an
unfinished load stands in the same index (`indexer/loading/resume.py`).
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from indexer.engine.bulk import (
    REQUIRE_ALIAS,
    AliasGoneError,
    BulkSender,
    Outcome,
    delete_line,
    index_lines,
    outcome_of,
    reason_of,
)
from indexer.engine.hidden_index import create_hidden_index
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import Scan, count_documents, read_items, refresh, retry_when_lost
from indexer.engine.states import loading_alias
from indexer.errors import CommandError
from mappings.names import tombstones_alias, tombstones_index

KEEP_SECONDS = 48 * 3600  # a change that is older than this may bring back what was deleted since
PRUNE_SECONDS = 60.0  # between two removals of old records, each of at most so many:
PRUNE_RECORDS = 100_000

_MAPPINGS = {
    "dynamic": "strict",
    "properties": {
        "id": {"type": "long"},
        "version": {"type": "long"},
        "at": {"type": "long"},
        "checkpoint": {"type": "object", "enabled": False},  # see indexer/loading/resume.py; read by id only
    },
}


class Tombstones:
    """The tombstones of one alias; every call retries transient failures."""

    def __init__(self, client: OpenSearch, alias: str, retry: RetryPolicy) -> None:
        self._client = client
        self._retry = retry
        self._index = tombstones_index(alias)
        self.alias = tombstones_alias(alias)
        self._pruned_at = float("-inf")

    def create(self) -> None:
        self._retry.call(lambda: create_hidden_index(self._client, self._index, self.alias, _MAPPINGS))

    def record(self, versions: Mapping[int, int]) -> None:
        """Records deletes, by id with their times, before they are done; raises CommandError where it could not."""
        try:
            self._record(versions)
        except AliasGoneError:
            self.create()
            self._record(versions)

    def _record(self, versions: Mapping[int, int]) -> None:
        now = time.time_ns() // 1000

        def lines(delete: tuple[int, int]) -> bytes:
            return index_lines(*delete, b'{"id":%d,"version":%d,"at":%d}' % (*delete, now))

        for (number, _), result in BulkSender(self._client, self._retry).send(self.alias, [*versions.items()], lines):
            if outcome_of(result) is Outcome.REFUSED:
                raise CommandError(f"the delete of item {number} could not be recorded: {reason_of(result)}")

    def later(self, versions: Mapping[int, int]) -> dict[int, int]:
        """The times of the deletes that were recorded as later than these changes, by id."""
        try:
            records = self._retry.call(lambda: read_items(self._client, self.alias, versions, "version"))
        except NotFoundError:
            return {}
        recorded = {number: record["version"] for number, record in records.items()}
        return {number: version for number, version in recorded.items() if version > versions[number]}

    def count_later(self, version: int) -> int:
        """How many items have a delete that was recorded as later than this."""
        query = {"range": {"version": {"gt": version}}}
        params = {"ignore_unavailable": "true"}  # it is made with the first delete

        def count() -> int:
            refresh(self._client, self.alias, **params)
            return count_documents(self._client, self.alias, query, **params)

        return self._retry.call(count)

    def prune(self, since: int) -> None:
        """Removes some of the records that are older than two days and than `since`, microseconds since 1970: the
        start of the oldest load that is not finished. Does so at most once a minute; where the engine refuses, the
        next time removes them.
        """
        if time.monotonic() - self._pruned_at < PRUNE_SECONDS:
            return
        self._pruned_at = time.monotonic()
        before = min(since, time.time_ns() // 1000 - KEEP_SECONDS * 10**6)
        query = {"query": {"range": {"at": {"lt": before}}}, "max_docs": PRUNE_RECORDS}
        params = {"conflicts": "proceed"}
        with suppress(OpenSearchException):  # nothing that is due waits for it
            self._client.delete_by_query(index=self.alias, body=query, params=params)

    def apply(self, index: str, version: int) -> None:
        """Deletes in an index that is being filled what was deleted after `version`, the load's start.

        Also removes what was changed before the load's start, which a delayed change may have left there: the
        source is newer, and does not have it.
        """
        self._refresh(f"{self.alias},{index}")
        retry_when_lost(partial(self._delete_found, index, version, self.alias, "gt"))
        retry_when_lost(partial(self._delete_found, index, version, index, "lt"))
        self._refresh(index)

    def _delete_found(self, index: str, version: int, place: str, relation: str) -> None:
        """Deletes in the index what is found in a place by its version: `gt` or `lt` that of the load."""
        with Scan(self._client, place, self._retry) as scan:
            for page in scan.pages({"range": {"version": {relation: version}}}, source=["version"]):
                self._delete(index, [(int(hit["_id"]), max(version, hit["_source"]["version"])) for hit in page])

    def _refresh(self, indices: str) -> None:
        self._retry.call(lambda: refresh(self._client, indices))

    def _delete(self, index: str, deletes: list[tuple[int, int]]) -> None:
        sender, alias = BulkSender(self._client, self._retry), loading_alias(index)
        for (number, _), result in sender.send(
            alias, deletes, lambda delete: delete_line(*delete), guard=REQUIRE_ALIAS
        ):
            if outcome_of(result) is Outcome.REFUSED:
                raise CommandError(f"item {number} could not be deleted from {index}: {reason_of(result)}")
