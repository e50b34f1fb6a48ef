"""The lock's record: an alias in; who holds its lock, and writes that happen only where nothing moved, out.

One small document an alias, in an index of its own beside all generations. It is read by id, so what was written last
is seen at once, and written only where the engine's sequence number is still the one that was read (compare and set).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConflictError, NotFoundError, RequestError

from indexer.locking.owner import Owner
from mappings.names import locks_alias, locks_index

_BODY = {
    "settings": {"index": {"number_of_shards": 1, "auto_expand_replicas": "0-1", "hidden": True}},
    "mappings": {"dynamic": False, "properties": {}},  # read by id only
}


class MovedError(Exception):
    """The document is not any more what was read: somebody else wrote it, or a write whose answer was lost."""


@dataclass(frozen=True, kw_only=True)
class LockRecord:
    """Who does what since when; times are by the owner's own clock, to be shown and not compared."""

    owner: Owner
    command: str  # such as `load`
    index: str | None  # the generation that it fills
    since: str  # RFC 3339, UTC
    beat: str
    expiry: float  # seconds without a beat after which others may take it
    place: tuple[int, int] | None = None  # the engine's sequence number and primary term; changes with each beat

    def renewed(self) -> "LockRecord":
        """The same with a beat of now."""
        return replace(self, beat=now_text())

    def filling(self, index: str) -> "LockRecord":
        """The same, and the generation that it fills."""
        return replace(self, index=index)

    def age(self) -> float:
        """Seconds since the last beat, where the owner's clock is this one."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.beat)).total_seconds()

    def holder(self) -> str:
        """`gear-indexer load (process 17 on build-1), since …, last heard of …`."""
        return (
            f"gear-indexer {self.command} ({self.owner}), since {self.since}, last heard of {self.beat} "
            f"(now {now_text()} here)"
        )

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "command": self.command,
            "host": self.owner.host,
            "pid": self.owner.pid,
            "index": self.index,
            "since": self.since,
            "beat": self.beat,
            "expiry": self.expiry,
        }


def now_text() -> str:
    """This moment by this machine's clock."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LockRecords:
    """The record of one alias's lock; each call is one request of at most `seconds`."""

    def __init__(self, client: OpenSearch, alias: str, seconds: float) -> None:
        self._client = client
        self._id = alias
        self._index = locks_index(alias)
        self._alias = locks_alias(alias)
        self._seconds = seconds

    def read(self) -> LockRecord | None:
        """The record as of now, None where nobody holds the lock."""
        try:
            found = self._client.get(index=self._alias, id=self._id, params=self._params())
        except NotFoundError:
            return None
        source = found["_source"]
        return LockRecord(
            **{**source, "owner": Owner(**source["owner"])}, place=(found["_seq_no"], found["_primary_term"])
        )

    def create(self, record: LockRecord) -> LockRecord:
        """Writes the first record; raises MovedError where there is one."""
        try:
            return self._write(record, {"op_type": "create"})
        except NotFoundError:
            self._create_index()
            return self._write(record, {"op_type": "create"})

    def replace(self, read: LockRecord, record: LockRecord) -> LockRecord:
        """Writes a record in the place of one that was read; raises MovedError where that is gone or another."""
        try:
            return self._write(record, _at(read))
        except NotFoundError as error:  # the whole index was removed
            raise MovedError from error

    def remove(self, read: LockRecord) -> None:
        """Takes the record away; raises MovedError where it is another by now."""
        with _moved(), self._gone():
            self._client.delete(index=self._index, id=self._id, params=self._params(_at(read)))

    @contextmanager
    def _gone(self) -> Iterator[None]:
        try:
            yield
        except NotFoundError:
            return

    def _write(self, record: LockRecord, params: dict[str, Any]) -> LockRecord:
        body = {
            "owner": record.owner.as_json(),
            **{name: getattr(record, name) for name in ("command", "index", "since", "beat", "expiry")},
        }
        # Through an alias that must exist, so that no beat makes an index.
        with _moved():
            answer = self._client.index(
                index=self._alias, id=self._id, body=body, params=self._params({**params, "require_alias": "true"})
            )
        return replace(record, place=(answer["_seq_no"], answer["_primary_term"]))

    def _create_index(self) -> None:
        try:
            body = {**_BODY, "aliases": {self._alias: {"is_hidden": True}}}
            self._client.indices.create(index=self._index, body=body)
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise

    def _params(self, others: dict[str, Any] | None = None) -> dict[str, Any]:
        return {**(others or {}), "request_timeout": self._seconds}


@contextmanager
def _moved() -> Iterator[None]:
    try:
        yield
    except ConflictError as error:
        raise MovedError from error


def _at(read: LockRecord) -> dict[str, Any]:
    if read.place is None:
        message = "a record that was never read or written cannot be replaced"
        raise ValueError(message)
    return {"if_seq_no": read.place[0], "if_primary_term": read.place[1]}
