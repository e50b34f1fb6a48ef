"""The lock's record: who holds the lock of an alias, in one small document in an index of its own.

It is read by id, so what was written last is seen at once, and written only where the engine's sequence number is still
the one that was read (compare and set).
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError

from indexer.engine.hidden_index import create_hidden_index, now_text
from indexer.locking.owner import Owner
from mappings.names import locks_alias, locks_index

REQUEST_SECONDS = 10.0  # several fit into the expiry of a lock
_MAPPINGS = {"dynamic": False, "properties": {}}  # read by id only


class RecordChangedError(Exception):
    """The record is not any more what was read: somebody else wrote it, or a write of ours whose response was lost."""


@dataclass(frozen=True, kw_only=True)
class LockRecord:
    """Who does what since when; times are by the owner's own clock, to be shown and not compared."""

    owner: Owner
    command: str  # such as `load`
    index: str | None  # the generation that it fills
    since: str  # RFC 3339, UTC
    heartbeat: str
    expiry: float  # seconds without a heartbeat after which others may take it
    sequence: tuple[int, int] | None = None  # the engine's sequence number and primary term; changes with each write

    def age(self) -> float:
        """Seconds since the last heartbeat, where the owner's clock is this one."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.heartbeat)).total_seconds()

    def description(self) -> str:
        """`gear-indexer load (process 17 on build-1), since …, last heard of …`."""
        return (
            f"gear-indexer {self.command} ({self.owner}), since {self.since}, last heard of {self.heartbeat} "
            f"(now {now_text()} here)"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "host": self.owner.host,
            "pid": self.owner.pid,
            "index": self.index,
            "since": self.since,
            "heartbeat": self.heartbeat,
            "expiry": self.expiry,
        }


class LockRecords:
    """The record of one alias's lock; each call is one request of at most REQUEST_SECONDS."""

    def __init__(self, client: OpenSearch, alias: str) -> None:
        self._client = client
        self._id = alias
        self._index = locks_index(alias)
        self._alias = locks_alias(alias)

    def read(self) -> LockRecord | None:
        """The record as of now, None where nobody holds the lock."""
        try:
            document = self._client.get(index=self._alias, id=self._id, params=self._params())
        except NotFoundError:
            return None
        source = document["_source"]
        return LockRecord(
            **{**source, "owner": Owner(**source["owner"])}, sequence=(document["_seq_no"], document["_primary_term"])
        )

    def create(self, record: LockRecord) -> LockRecord:
        """Writes the first record; raises RecordChangedError where there is one."""
        try:
            return self._write(record, {"op_type": "create"})
        except NotFoundError:
            create_hidden_index(self._client, self._index, self._alias, _MAPPINGS)
            return self._write(record, {"op_type": "create"})

    def replace(self, read: LockRecord, record: LockRecord) -> LockRecord:
        """Replaces the record that was read; raises RecordChangedError where that is gone or changed."""
        try:
            return self._write(record, _at(read))
        except NotFoundError as error:  # the whole index was removed
            raise RecordChangedError from error

    def remove(self, read: LockRecord) -> None:
        """Takes the record away; raises RecordChangedError where it is another by now."""
        with _conflicts(), suppress(NotFoundError):
            self._client.delete(index=self._index, id=self._id, params=self._params(_at(read)))

    def _write(self, record: LockRecord, params: dict[str, Any]) -> LockRecord:
        body = asdict(record)
        del body["sequence"]  # which the engine gives
        # Through an alias that must exist, so that no heartbeat makes an index.
        with _conflicts():
            response = self._client.index(
                index=self._alias, id=self._id, body=body, params=self._params({**params, "require_alias": "true"})
            )
        return replace(record, sequence=(response["_seq_no"], response["_primary_term"]))

    def _params(self, others: dict[str, Any] | None = None) -> dict[str, Any]:
        return {**(others or {}), "request_timeout": REQUEST_SECONDS}


@contextmanager
def _conflicts() -> Iterator[None]:
    try:
        yield
    except ConflictError as error:
        raise RecordChangedError from error


def _at(read: LockRecord) -> dict[str, Any]:
    if read.sequence is None:
        raise ValueError("a record that was never read or written cannot be replaced")
    return {"if_seq_no": read.sequence[0], "if_primary_term": read.sequence[1]}
