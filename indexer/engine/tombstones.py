"""Tombstones: the ids that were deleted live while an index is being filled, so that the load deletes them again.

The engine forgets a deleted document's version after `index.gc_deletes`, and at a restart; an item that the load sends
after that would come back. So each live delete is also a document {id, version} of an index beside the one that is
filled, `<index>-tombstones`, from the load's start to its end.
"""

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from indexer.engine.bulk import REQUIRE_ALIAS, BulkSender, Outcome, delete_line, outcome_of, reason_of
from indexer.engine.retry import RetryPolicy
from indexer.engine.scan import PointInTime, retry_when_lost
from indexer.engine.states import loading_alias, tombstones_index
from indexer.errors import CommandError

_BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1"}},
    "mappings": {
        "dynamic": "strict",
        "properties": {
            "id": {"type": "long"},
            "version": {"type": "long"},
            "checkpoint": {"type": "object", "enabled": False},  # see indexer/loading/resume.py; read by id only
        },
    },
}


class Tombstones:
    """The tombstones beside one index that is being filled."""

    def __init__(self, client: OpenSearch, filled: str, retry: RetryPolicy) -> None:
        self._client = client
        self._filled = filled
        self._index = tombstones_index(filled)
        self._retry = retry

    def create(self) -> None:
        """Makes the index; before the one that is filled, so that whoever sees that finds this one too."""
        body = {**_BODY, "aliases": {loading_alias(self._index): {}}}
        self._client.indices.create(index=self._index, body=body)

    def remove(self) -> None:
        """Removes the index; it may be gone already."""

        def delete() -> None:
            try:
                self._client.indices.delete(index=self._index)
            except NotFoundError:  # a lost answer, or somebody else was faster
                return

        self._retry.call(delete)

    def apply(self, version: int) -> None:
        """Deletes in the filled index what was deleted after `version`, the load's start.

        Also removes what was changed before the load's start, which a delayed change may have left there: the
        source is newer, and does not have it.
        """
        self._refresh(self._index, self._filled)
        retry_when_lost(lambda: self._delete_recorded(version))
        retry_when_lost(lambda: self._delete_older(version))
        self._refresh(self._filled)

    def _delete_recorded(self, version: int) -> None:
        with PointInTime(self._client, self._index, self._retry) as point:
            for page in point.pages({"range": {"version": {"gt": version}}}, source=("id", "version")):
                self._delete([(hit["_source"]["id"], hit["_source"]["version"]) for hit in page])

    def _delete_older(self, version: int) -> None:
        older = {"bool": {"filter": [{"exists": {"field": "version"}}, {"range": {"version": {"lt": version}}}]}}
        with PointInTime(self._client, self._filled, self._retry) as point:
            for page in point.pages(older):
                self._delete([(int(hit["_id"]), version) for hit in page])

    def _refresh(self, *indices: str) -> None:
        self._retry.call(lambda: self._client.indices.refresh(index=",".join(indices)))

    def _delete(self, deletes: list[tuple[int, int]]) -> None:
        def line(delete: tuple[int, int]) -> bytes:
            return delete_line(*delete)

        sender = BulkSender(self._client, self._retry)
        results = sender.send(loading_alias(self._filled), deletes, line, guard=REQUIRE_ALIAS)
        for (number, _), result in results:
            if outcome_of(result) is Outcome.REFUSED:
                message = f"item {number} could not be deleted from {self._filled}: {reason_of(result)}"
                raise CommandError(message)
