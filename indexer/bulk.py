"""Bulk: documents as bytes in, acknowledged items in the new index out, and every other one with its reason.

Memory is bounded: at most `senders` chunks are on their way, one waits and one is being filled. Ids and versions are
fixed, so a chunk whose answer was lost is simply sent again, and an item changed live meanwhile stays as it is.
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from indexer.failures import CommandError, cause, disk_full, is_disk_full, may_pass
from indexer.low_water import LowWater
from indexer.patience import Patience

CHUNK_BYTES = 4 * 1024 * 1024
CHUNK_ITEMS = 10_000
# Each item's status, and the reason where there is one; `errors` so that an answer without items is seen as such.
FILTER_PATH = "errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"


class Entry(NamedTuple):
    """One item on its way: its line in the source, its id, its two lines of the request, its content's hash."""

    line: int
    id: int
    data: bytes
    digest: int


Refused = Callable[[str, Entry, str], None]  # source, item, the engine's reason


@dataclass
class _Chunk:
    """The items of one request, and what became of those that are not in it any more."""

    number: int
    source: str
    entries: list[Entry]
    superseded: int = 0
    refused: int = 0


class BulkWriter:
    """Writes through an alias that must exist, so that no index is ever made by a late request."""

    def __init__(
        self,
        client: OpenSearch,
        alias: str,
        *,
        refused: Refused,
        patience: Patience,
        low_water: LowWater,
        senders: int = 2,
    ) -> None:
        self._client = client
        self._alias = alias
        self._refused = refused
        self._patience = patience
        self._low_water = low_water
        self._pool = ThreadPoolExecutor(senders, "bulk")
        self._slots = threading.Semaphore(senders + 1)
        self._running: set[Future[None]] = set()
        self._lock = threading.Lock()
        self._source = ""
        self._entries: list[Entry] = []
        self._bytes = 0
        self.acknowledged = 0  # what was superseded is among them
        self.superseded = 0
        self.refused = 0
        self.retries = 0  # requests sent again, whole or in part
        self.bytes = 0  # sent, those of retries too

    def begin(self, source: str) -> None:
        """What is written from now on is of this source; raises what a sender raised."""
        self._send_off()
        self._source = source

    def write(self, entry: Entry) -> None:
        """Takes one item; blocks while enough is on its way; raises what a sender raised."""
        self._entries.append(entry)
        self._bytes += len(entry.data)
        if self._bytes >= CHUNK_BYTES or len(self._entries) >= CHUNK_ITEMS:
            self._send_off()

    def finish(self) -> None:
        """Sends the rest and waits for every answer; raises what a sender raised."""
        self._send_off()
        done, _ = wait(self._running, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        self._pool.shutdown()

    def stop(self) -> None:
        """Ends all waiting and sends nothing more."""
        self._patience.stopped.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _send_off(self) -> None:
        if not self._entries:
            return
        entries, self._entries, self._bytes = self._entries, [], 0
        # a sender gives its slot back when it fails too, so this never waits for a dead one
        self._slots.acquire()
        done = {future for future in self._running if future.done()}
        self._running -= done
        for future in done:
            future.result()
        chunk = _Chunk(self._low_water.sent(), self._source, entries)
        self._running.add(self._pool.submit(self._send, chunk))

    def _send(self, chunk: _Chunk) -> None:
        try:
            waits = self._patience.waits()
            while chunk.entries:
                left, reason = self._attempt(chunk)
                if len(left) < len(chunk.entries):
                    waits.progress()
                chunk.entries = left
                if left:
                    with self._lock:
                        self.retries += 1
                    waits.wait(reason)
            if not chunk.refused:
                self._low_water.acknowledged(chunk.number, chunk.superseded)
        finally:
            self._slots.release()

    def _attempt(self, chunk: _Chunk) -> tuple[list[Entry], str]:
        """Sends once; returns what is to be sent again, and why."""
        entries = chunk.entries
        data = b"".join([entry.data for entry in entries])
        with self._lock:
            self.bytes += len(data)
        try:
            results = post(self._client, self._alias, data, len(entries))
        except OpenSearchException as error:
            if may_pass(error):
                return entries, cause(error)
            raise
        return self._sorted_out(chunk, results)

    def _sorted_out(self, chunk: _Chunk, results: list[dict[str, Any]]) -> tuple[list[Entry], str]:
        again: list[Entry] = []
        reason = ""
        written = superseded = refused = 0
        for entry, result in zip(chunk.entries, results, strict=True):
            status = result["status"]
            if status in (HTTPStatus.OK, HTTPStatus.CREATED):
                written += 1
                continue
            if status == HTTPStatus.CONFLICT:  # with external versions: a later change is there already
                superseded += 1
                continue
            why = reason_of(result)
            if is_disk_full(why):
                raise CommandError(disk_full(why))
            if status == HTTPStatus.TOO_MANY_REQUESTS or status >= 500:
                again.append(entry)
                reason = f"{status} {why}"
            elif status == HTTPStatus.BAD_REQUEST:
                refused += 1
                self._refused(chunk.source, entry, why)
            else:
                message = f"the engine refused item {entry.id} ({chunk.source}, line {entry.line}): {status} {why}"
                raise CommandError(message)
        chunk.superseded += superseded
        chunk.refused += refused
        with self._lock:
            self.acknowledged += written + superseded
            self.superseded += superseded
            self.refused += refused
        return again, reason


def index_lines(number: int, version: int, document: bytes) -> bytes:
    """The two lines that put an item's document into an index, unless there is a later one."""
    # `gte`, so that the same lines may be sent again
    return b'{"index":{"_id":"%d","version":%d,"version_type":"external_gte"}}\n%b\n' % (number, version, document)


def post(client: OpenSearch, alias: str, data: bytes, count: int) -> list[dict[str, Any]]:
    """Sends a bulk request of `count` changes through an alias that must exist; each one's result.

    Raises the client's error, and CommandError where there is not one result for each change.
    """
    answer = client.transport.perform_request(
        "POST",
        f"/{alias}/_bulk",
        params={"filter_path": FILTER_PATH, "require_alias": "true"},
        body=data,
        headers={"content-type": "application/x-ndjson"},
    )
    results = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(results, list) or len(results) != count:
        found = len(results) if isinstance(results, list) else "no list of"
        message = f"the engine answered {count} items with {found} results"
        raise CommandError(message)
    return [result for wrapped in results for result in wrapped.values()]


def reason_of(result: dict[str, Any]) -> str:
    """The engine's reason for one item of a bulk answer."""
    error = result.get("error", {})
    inner = (error.get("caused_by") or {}).get("reason")
    return f"{error.get('type')}: {error.get('reason')}" + (f" ({inner})" if inner else "")
